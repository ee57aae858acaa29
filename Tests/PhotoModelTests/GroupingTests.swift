import PhotoModel
import Testing

@Suite("Files of one stem") struct GroupingTests {
    /// Each group as `NAME role, NAME role`.
    private func groups(_ names: [String]) -> [String] {
        let paths = names.map { Path($0) }
        return Grouping.groups(of: paths).map { group in
            group.map { "\(names[$0.index]) \($0.role.rawValue)" }.joined(separator: ", ")
        }
    }

    @Test(
        arguments: [
            (["A.JPG"], ["A.JPG photo"]),
            (["A.MOV", "A.HEIC"], ["A.HEIC photo, A.MOV paired_video"]),
            (["A.mp4", "A.jpg"], ["A.jpg photo, A.mp4 paired_video"]),
            (["A.MP4", "A.MOV", "A.HEIC"], ["A.HEIC photo, A.MOV paired_video, A.MP4 video"]),
            (["A.AVI", "A.JPG"], ["A.JPG photo, A.AVI video"]),
            (["A.CR2", "A.JPG"], ["A.JPG photo, A.CR2 alternate_photo"]),
            (["A.NEF", "A.DNG", "A.JPG"], ["A.JPG photo, A.DNG alternate_photo, A.NEF alternate_photo"]),
            (
                ["A.png", "A.jpg", "A.heic", "A.tif"],
                ["A.heic photo, A.jpg alternate_photo, A.png alternate_photo, A.tif alternate_photo"]
            ),
            (["A.CR2"], ["A.CR2 photo"]),
            (["A.MOV"], ["A.MOV video"]),
            (["A.THM", "A.MOV"], ["A.MOV video, A.THM thumbnail"]),
            (["A.WAV", "A.NEF", "A.xmp"], ["A.NEF photo, A.xmp sidecar, A.WAV audio"]),
            (["A.AAE", "A.HEIC", "A.MOV"], ["A.HEIC photo, A.MOV paired_video, A.AAE adjustment"]),
            (
                ["A.xmp", "A.CR2.xmp", "A.CR2", "A.JPG"],
                ["A.JPG photo, A.CR2 alternate_photo, A.CR2.xmp sidecar, A.xmp sidecar"]
            ),
            // No camera writes both: two shots, each with what names it.
            (["A.jpg", "A.JPG", "A.jpg.xmp"], ["A.JPG photo", "A.jpg photo, A.jpg.xmp sidecar"]),
            (["A.xmp", "A.aae"], ["A.aae adjustment, A.xmp sidecar"]),
            (["A.json"], ["A.json photo"]),
            (["A.json", "A.jpg"], ["A.jpg photo, A.json sidecar"]),
            (["A.txt"], ["A.txt photo"]),
            ([], []),
        ] as [([String], [String])])
    func `become the groups that travel together`(names: [String], expected: [String]) {
        #expect(groups(names) == expected)
        #expect(groups(names.reversed()) == expected)
    }

    @Test func `are parted when they are very many, and none is lost`() {
        let names = (0..<70).map { "A.x\($0).jpg" } + ["A.jpg"]
        let groups = Grouping.groups(of: names.map { Path($0) } + (0..<40).map { Path("A.dop\($0).xmp") })
        #expect(groups.allSatisfy { !$0.isEmpty && $0.count <= Grouping.largest })
        #expect(groups.flatMap { $0.map(\.index) }.sorted() == Array(0..<111))
    }

    @Test func `are orphans when nothing among them can be a shot`() {
        func isOrphan(_ names: [String]) -> [Bool] {
            Grouping.groups(of: names.map { Path($0) }).map(Grouping.isOrphan)
        }
        #expect(isOrphan(["A.xmp", "A.THM"]) == [true])
        #expect(isOrphan(["A.jpg.json"]) == [true])
        #expect(isOrphan(["A.xmp", "A.CR2"]) == [false])
        #expect(isOrphan(["A.json"]) == [false])
    }

    @Test(
        arguments: [
            (["A.JPG"], [AssetKind.raw], true),
            (["A.JPG"], [.screenshot], false),
            (["A.JPG"], [.livePhoto], false),
            (["A.JPG"], [], false),
            (["A.CR2"], [.photo], true),
            (["A.CR2", "A.JPG"], [.photo], false),
            (["A.CR2", "A.JPG"], [.raw], false),
            (["A.MOV"], [.photo, .raw], true),
            (["A.MOV", "A.HEIC"], [.livePhoto], false),
            (["A.MOV", "A.HEIC"], [.raw], true),
            (["A.xmp"], [.raw], false),
            (["A.txt"], [.raw], false),
        ] as [([String], Set<AssetKind>, Bool)])
    func `are left alone when their names show that nobody asked for them`(
        names: [String], kinds: Set<AssetKind>, isFiltered: Bool
    ) {
        #expect(Grouping.isFiltered(kinds, names: names.map { Path($0) }) == isFiltered)
    }

    /// 43 characters; with `.jp` these are the 46 that Takeout leaves.
    private static let cut = "a photo whose name is longer than it may be"

    /// 44 bytes in 40 characters.
    private static let umlauts = "äöüß" + String(repeating: "u", count: 36)

    @Test(arguments: [
        ("IMG_1.JPG", "IMG_1", NameKind.jpeg), ("IMG_1.heic", "IMG_1", .heif), ("a.b.CR2", "a.b", .raw),
        ("IMG_1.xmp", "IMG_1", .sidecar), ("IMG_1.CR2.xmp", "IMG_1", .sidecar), ("IMG_1.v2.xmp", "IMG_1.v2", .sidecar),
        ("IMG_1.AAE", "IMG_1", .adjustment), ("MVI_1.THM", "MVI_1", .thumbnail), ("IMG_1.WAV", "IMG_1", .audio),
        ("IMG_1.jpg.json", "IMG_1", .sidecar), ("IMG_1.json", "IMG_1", .looseSidecar),
        ("IMG_1.jpg.supplemental-metadata.json", "IMG_1", .sidecar), ("IMG_1.jpg.supplem.json", "IMG_1", .sidecar),
        ("IMG_1.jpg(2).json", "IMG_1(2)", .sidecar), ("IMG_1.jpg.supplemental-metadata(2).json", "IMG_1(2)", .sidecar),
        ("IMG_1.jpg.supplemental-meta(1).json", "IMG_1(1)", .sidecar), ("IMG_1.jpg..json", "IMG_1", .sidecar),
        ("\(cut).jp.json", cut, .sidecar), ("\(cut).h.json", "\(cut).h", .looseSidecar),
        ("\(cut).jp(1).json", "\(cut)(1)", .sidecar), ("\(cut)ab..json", "\(cut)ab", .sidecar),
        ("\(cut)c.j.json", "\(cut)c", .sidecar), ("IMG_1234.jpg.s.json", "IMG_1234", .sidecar),
        ("IMG_1234.jp.json", "IMG_1234", .sidecar), ("IMG_1234.he(3).json", "IMG_1234(3)", .sidecar),
        ("IMG_1234.j.json", "IMG_1234.j", .looseSidecar), ("IMG_1234..json", "IMG_1234.", .looseSidecar),
        // 46 bytes, in which an umlaut takes two.
        ("\(umlauts).j.json", umlauts, .sidecar), ("\(umlauts)x.j.json", "\(umlauts)x.j", .looseSidecar),
        ("IMG_1(2).jpg.supplemental-metadata.json", "IMG_1(2)", .sidecar), ("a.xx.json", "a.xx", .looseSidecar),
        ("notes.txt", "notes.txt", .other), ("README", "README", .other), ("IMG_1.jpg.zip", "IMG_1.jpg.zip", .other),
        (".jpg", ".jpg", .other), ("IMG_1.", "IMG_1.", .other),
    ])
    func `have a stem and a kind by their names`(name: String, stem: String, kind: NameKind) {
        let shot = ShotName(Path(name))
        #expect(shot.stem == Path(stem))
        #expect(shot.kind == kind)
    }

    @Test func `keep every byte of names that are not text`() {
        let name = Path(bytes: [0xFF, 0x0A, 0x2E] + Array("JPG".utf8))
        #expect(ShotName(name).stem == Path(bytes: [0xFF, 0x0A]))
        #expect(ShotName(name).kind == .jpeg)
        #expect(ShotName(Path(bytes: Array("a.jp".utf8) + [0xFF])).kind == .other)
    }
}
