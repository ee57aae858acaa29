import Testing

@testable import PhotoModel

private func shot(
    stem: Path = Path("IMG_0001"), model: String? = "iPhone 13 Pro", lens: String? = nil, drop: String = "card"
) -> NamingTemplate.Shot {
    NamingTemplate.Shot(
        capturedAt: WallTime(year: 2026, month: 5, day: 7, hour: 9, minute: 4, second: 1, subseconds: "87"),
        make: "Apple", model: model, lens: lens, stem: stem, drop: drop, batch: 12, sequence: 34,
        sha256: SHA256Digest(bytes: [0xab, 0xcd, 0xef, 0x01] + Array(repeating: 0x99, count: 28)),
        id: "0196d1a2-0000-7000-8000-000000000001")
}

private func path(_ template: String, _ shot: NamingTemplate.Shot, _ suffix: String = ".HEIC") throws -> Path {
    try #require(try NamingTemplate(template).paths(for: shot, suffixes: [Path(suffix)]).first)
}

@Suite("A naming template") struct NamingTemplateTests {
    @Test(arguments: [
        ("{year}/{year}-{month}-{day}/{stem}{ext}", "2026/2026-05-07/IMG_0001.HEIC"),
        ("{hour}{minute}{second}.{subsec}{ext}", "090401.87.HEIC"),
        ("{make}/{model}/{lens}/{stem}{ext}", "Apple/iPhone 13 Pro/unknown/IMG_0001.HEIC"),
        ("{drop}/{batch}/{seq}{ext}", "card/12/34.HEIC"),
        ("{seq:4}-{sha:8}{ext}", "0034-abcdef01.HEIC"),
        ("{id}{ext}", "0196d1a2-0000-7000-8000-000000000001.HEIC"),
        ("a{{b}}/{stem}{ext}", "a{b}/IMG_0001.HEIC"),
        ("Bilder über alles/{stem}{ext}", "Bilder über alles/IMG_0001.HEIC"),
    ])
    func `fills its tokens`(template: String, expected: String) throws {
        #expect(try path(template, shot()).shown == expected)
    }

    @Test(arguments: [
        ("", 0, "is empty"),
        ("{yaer}/{stem}{ext}", 0, "has the unknown token {yaer}"),
        ("a/{stem}", 8, "has to end in {ext}"),
        ("{stem}{ext}.bak", 11, "has to end in {ext}"),
        ("{stem}.{ext}", 7, "has a dot before {ext}, which brings its own"),
        ("x/{ext}", 2, "has a file name of nothing but {ext}"),
        ("/{stem}{ext}", 0, "starts with a slash"),
        ("a//{stem}{ext}", 2, "has a component without a name"),
        ("a/../{stem}{ext}", 2, "has a component that starts with a dot"),
        (".photospool/{stem}{ext}", 0, "has a component that starts with a dot"),
        ("{stem}{ext}/", 12, "has a component without a name"),
        ("{ext}/{stem}{ext}", 12, "has {ext} twice"),
        ("a{stem", 1, "has a { without its }"),
        ("a}{stem}{ext}", 1, "has a } without its {"),
        ("{seq:0}{ext}", 0, "gives {seq} a width that is no number from 1 to 18"),
        ("{stem:3}{ext}", 0, "gives {stem} a number, which it does not take"),
        ("a\u{7}{stem}{ext}", 1, "has a control character"),
        ("1/2/3/4/5/6/7/8/{stem}{ext}", 0, "is more than 8 components deep"),
    ])
    func `says what is wrong with it and where`(template: String, offset: Int, sentence: String) throws {
        let fault = try #require(throws: NamingTemplate.Fault.self) { try NamingTemplate(template) }
        #expect(fault.offset == offset)
        #expect(fault.sentence == sentence)
    }

    @Test(arguments: [
        // What a photo says about itself must not lead out of its place.
        ("../../etc", "_._.._etc/IMG_0001.HEIC"),
        ("..", "_./IMG_0001.HEIC"),
        (".photospool", "_photospool/IMG_0001.HEIC"),
        ("a\u{0}b\nc\u{7F}", "a_b_c_/IMG_0001.HEIC"),
        ("  EOS R5 \u{0}\u{0}", "EOS R5/IMG_0001.HEIC"),
        (" \u{0} ", "unknown/IMG_0001.HEIC"),
    ])
    func `makes hostile values harmless`(model: String, expected: String) throws {
        #expect(try path("{model}/{stem}{ext}", shot(model: model)).shown == expected)
    }

    @Test func `keeps names that are not UTF-8 byte for byte`() throws {
        let stem = Path(bytes: [0x46, 0xF1, 0x31])
        #expect(try path("{stem}{ext}", shot(stem: stem)).bytes == [0x46, 0xF1, 0x31] + Array(".HEIC".utf8))
    }

    @Test func `gives all files of a shot one stem, also on collision`() throws {
        let template = try NamingTemplate("{year}/{stem}{ext}")
        let suffixes = [".CR2", ".JPG", ".CR2.xmp", ""].map { Path($0) }
        #expect(
            template.paths(for: shot(), suffixes: suffixes).map(\.shown)
                == ["2026/IMG_0001.CR2", "2026/IMG_0001.JPG", "2026/IMG_0001.CR2.xmp", "2026/IMG_0001"])
        #expect(
            template.paths(for: shot(), suffixes: suffixes, collision: 1).map(\.shown)
                == ["2026/IMG_0001_1.CR2", "2026/IMG_0001_1.JPG", "2026/IMG_0001_1.CR2.xmp", "2026/IMG_0001_1"])
    }

    @Test func `keeps a name of 255 bytes that fits as it is`() throws {
        let stem = Path(String(repeating: "n", count: 250))
        #expect(try path("{year}/{stem}{ext}", shot(stem: stem)).name.bytes == stem.bytes + Array(".HEIC".utf8))
    }

    @Test func `cuts what is longer than a name can be, with a hash, and keeps extension and number`() throws {
        let template = try NamingTemplate("{year}-{stem}{ext}")
        let suffixes = [Path(".HEIC"), Path(".HEIC.xmp")]
        let first = template.paths(for: shot(stem: Path(String(repeating: "n", count: 250) + "a")), suffixes: suffixes)
        let other = template.paths(for: shot(stem: Path(String(repeating: "n", count: 250) + "b")), suffixes: suffixes)
        let numbered = template.paths(
            for: shot(stem: Path(String(repeating: "n", count: 250) + "a")), suffixes: suffixes, collision: 12)
        #expect(first.map(\.bytes.count) == [251, 255])
        #expect(first[0].shown.hasPrefix("2026-nnnn") && first[0].shown.hasSuffix(".HEIC"))
        #expect(first[0].bytes.dropLast(5) == first[1].bytes.dropLast(9))
        #expect(first[0] != other[0])
        #expect(numbered[1].shown.hasSuffix("_12.HEIC.xmp") && numbered[1].bytes.count == 255)
    }

    @Test(arguments: 0..<4) func `cuts between characters, not inside one`(shift: Int) throws {
        let stem = Path(String(repeating: "x", count: shift) + String(repeating: "漢", count: 100))
        let name = try path("{stem}{ext}", shot(stem: stem))
        #expect(name.isText)
        #expect((252...255).contains(name.bytes.count))
    }

    @Test func `cuts an extension that is a name of its own`() throws {
        let long = Path("." + String(repeating: "e", count: 240) + ".jpg")
        let names = try NamingTemplate("{year}-{month}-{day}-{stem}{ext}").paths(for: shot(), suffixes: [long])
        #expect(names[0].bytes.count <= 255)
        #expect(names[0].shown.hasPrefix("2026-05-07-IMG_0001.eee") && names[0].shown.hasSuffix(".jpg"))
    }

    /// What Microsoft's "Naming Files, Paths, and Namespaces" lists, in the template's text, the photo's name and its suffix.
    @Test(
        arguments: [
            ("IMG \"*:<>?\\|.", ".JPG", "09_04/IMG _________/09-04_IMG ________..JPG"),
            ("A. ", ".J?G. ", "09_04/A__/09-04_A. .J_G__"),
            ("plain", ".JPG", "09_04/plain/09-04_plain.JPG"),
            ("Lpt1.x", ".JPG", "09_04/_Lpt1.x/09-04_Lpt1.x.JPG"), ("lpt0", ".JPG", "09_04/lpt0/09-04_lpt0.JPG"),
            ("\u{E9}t\u{E9}", ".JPG", "09_04/\u{E9}t\u{E9}/09-04_\u{E9}t\u{E9}.JPG"),
        ])
    func `holds nothing that Windows forbids where the disk forbids it, too`(
        stem: String, suffix: String, expected: String
    ) throws {
        let template = try NamingTemplate("{hour}:{minute}/{stem}/{hour}-{minute}|{stem}{ext}")
        let windows = NameRules(areThoseOfWindows: true)
        func path(_ rules: NameRules) -> String? {
            template.paths(for: shot(stem: Path(stem)), suffixes: [Path(suffix)], rules: rules).first?.shown
        }
        #expect(path(windows) == expected)
        #expect(path(NameRules()) == "09:04/\(stem)/09-04|\(stem)\(suffix)")
        let noText = shot(stem: Path(bytes: [0x41, 0xF1, 0x3F]))
        let names = template.paths(for: noText, suffixes: [".a?", ".a:"].map { Path($0) }, rules: windows)
        #expect(names.map(\.name.shown) == ["09-04_A__.a_", "09-04_A__-2.a_"])
    }

    @Test func `never gives two files one name`() throws {
        let suffixes = [Path(".a\u{1}"), Path(".a\u{2}"), Path(".a_")]
        let names = try NamingTemplate("{stem}{ext}").paths(for: shot(), suffixes: suffixes)
        #expect(names.map(\.shown) == ["IMG_0001.a_", "IMG_0001-2.a_", "IMG_0001-3.a_"])
    }

    /// Only a library that takes them for one makes the first names collide.
    @Test func `tells sidecars apart that differ in case once there is a collision`() throws {
        let suffixes = [".JPG", ".xmp", ".XMP"].map { Path($0) }
        let template = try NamingTemplate("{stem}{ext}")
        #expect(
            template.paths(for: shot(), suffixes: suffixes).map(\.shown)
                == ["IMG_0001.JPG", "IMG_0001.xmp", "IMG_0001.XMP"])
        #expect(
            template.paths(for: shot(), suffixes: suffixes, collision: 1).map(\.shown)
                == ["IMG_0001_1.JPG", "IMG_0001_1.xmp", "IMG_0001_1-2.XMP"])
    }

    @Test(arguments: [
        ("IMG_0001.HEIC", "IMG_0001", ".HEIC"),
        ("IMG_0001.CR2.xmp", "IMG_0001", ".CR2.xmp"),
        ("img_0001.mov", "IMG_0001", ".mov"),
        ("IMG_0001", "IMG_0001", ""),
        ("IMG_E0001.HEIC", "IMG_0001", "_IMG_E0001.HEIC"),
    ])
    func `tells what follows the stem`(name: String, stem: String, suffix: String) {
        #expect(NamingTemplate.suffix(of: Path(name), after: Path(stem)).shown == suffix)
    }

    @Test func `knows which tokens it uses`() throws {
        #expect(try NamingTemplate("{seq:4}{ext}").uses(.seq))
        #expect(try !NamingTemplate("seq/{stem}{ext}").uses(.seq))
    }
}

@Suite("The nearest name") struct NearestNameTests {
    @Test(arguments: [
        ("setle", "settle"), ("settel", "settle"), ("pollInterval", "poll_interval"), ("max-size", "max_size"),
        ("xyzzy", nil), ("", nil),
    ])
    func `is found within a third of the letters`(word: String, expected: String?) {
        #expect(nearestName(to: word, among: ["settle", "poll_interval", "max_size", "name"]) == expected)
    }
}
