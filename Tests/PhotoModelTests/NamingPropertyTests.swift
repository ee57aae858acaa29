import PhotoModel
import Testing

/// Whatever a photo, a drop folder or a configuration says: names are looked at by a checker that knows nothing of how they
/// are made.
@Suite("A name from a template") struct NamingPropertyTests {
    /// SplitMix64, so that a failure can be repeated.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    private static let pieces: [[UInt8]] =
        [
            "a", "IMG_", "0001", ".", "..", "/", "../", "\0", "\n", "\u{7F}", "\u{1B}[2J", " ", "~", "-rf", "é",
            "e\u{301}",
            "漢", "📷🏽", "\u{202E}", "CON", "com1.", ":", "*", "?", "\\", "\"", ".photospool", "%2e%2e", "{stem}",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0xBD], [0xC0, 0xAF]]

    private static func bytes(_ dice: inout Dice, most: Int) -> [UInt8] {
        let length = Int.random(in: 0...most, using: &dice)
        var bytes: [UInt8] = []
        let isLong = Int.random(in: 0..<10, using: &dice) == 0
        while bytes.count < (isLong ? max(length, 300) : length) {
            bytes += pieces.randomElement(using: &dice) ?? []
        }
        return bytes
    }

    private static func text(_ dice: inout Dice) -> String? {
        Bool.random(using: &dice) ? String(decoding: bytes(&dice, most: 40), as: UTF8.self) : nil
    }

    /// What a directory entry can be: no slash, no NUL.
    private static func name(_ dice: inout Dice) -> Path {
        let bytes = bytes(&dice, most: 60).filter { $0 != 0x2F && $0 != 0 }.prefix(255)
        return Path(bytes: bytes.isEmpty ? [0x41] : Array(bytes))
    }

    private static func template(_ dice: inout Dice) -> NamingTemplate? {
        let tokens = [
            "{year}", "{month}", "{day}", "{hour}", "{minute}", "{second}", "{subsec}", "{make}", "{model}", "{lens}",
            "{stem}", "{drop}", "{batch}", "{seq}", "{seq:4}", "{seq:18}", "{sha}", "{sha:8}", "{id}", "/", "/", "-",
            "é",
            " ", ".", "漢", "{{", "}}",
        ]
        var text = ""
        for _ in 0..<Int.random(in: 1...12, using: &dice) { text += tokens.randomElement(using: &dice) ?? "" }
        return try? NamingTemplate(text + "{ext}")  // one with a fault is refused, which is another test's
    }

    private static func shot(_ dice: inout Dice) -> NamingTemplate.Shot {
        NamingTemplate.Shot(
            capturedAt: WallTime(
                year: Int.random(in: -1...10_000, using: &dice), month: Int.random(in: 0...12, using: &dice),
                day: Int.random(in: 0...31, using: &dice), hour: Int.random(in: 0...23, using: &dice),
                minute: Int.random(in: 0...59, using: &dice), second: Int.random(in: 0...60, using: &dice),
                subseconds: text(&dice) ?? ""),
            make: text(&dice), model: text(&dice), lens: text(&dice), stem: name(&dice).stem,
            drop: text(&dice) ?? "card", batch: Int64.random(in: 0...Int64.max, using: &dice),
            sequence: Int64.random(in: 0...Int64.max, using: &dice),
            sha256: SHA256Digest(bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &dice) }),
            id: "0196d1a2-0000-7000-8000-000000000001")
    }

    /// What is wrong with a path as one below a library, by POSIX and by the promises of the naming rule; nil for nothing.
    private static func fault(_ path: [UInt8]) -> String? {
        if path.isEmpty { return "is empty" }
        if path.first == 0x2F { return "is absolute" }
        if path.count > 4096 - 256 { return "is longer than a path may be" }
        for component in path.split(separator: 0x2F, omittingEmptySubsequences: false) {
            if component.isEmpty { return "has an empty component" }
            if component.count > 255 { return "has a component of \(component.count) bytes" }
            if component.first == 0x2E { return "has a hidden component" }
            if component.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "has a control byte" }
        }
        return nil
    }

    /// The bytes up to which it is UTF-8, as the standard library's own decoder sees it.
    private static func isText(_ bytes: [UInt8]) -> Bool { String(validating: bytes, as: UTF8.self) != nil }

    @Test func `is a path below the library, the same each time, and each file's own, in 10,000 random cases`() {
        var dice = Dice(state: 20_261_130)
        var rendered = 0
        var longest = 0
        while rendered < 10_000 {
            guard let template = Self.template(&dice) else { continue }
            let shot = Self.shot(&dice)
            let suffixes = (0..<Int.random(in: 1...4, using: &dice)).map { _ in
                NamingTemplate.suffix(of: Self.name(&dice), after: shot.stem)
            }
            let collision = Bool.random(using: &dice) ? 0 : Int.random(in: 1...9_999, using: &dice)
            let paths = template.paths(for: shot, suffixes: suffixes, collision: collision)
            rendered += 1
            #expect(paths.count == suffixes.count)
            #expect(Set(paths).count == paths.count, "\(template.text)")
            #expect(Set(paths.map(\.parent)).count == 1, "\(template.text)")
            for path in paths {
                let fault = Self.fault(path.bytes)
                #expect(fault == nil, "\(template.text): \(path.shown) \(fault ?? "")")
                longest = max(longest, path.name.bytes.count)
            }
            #expect(template.paths(for: shot, suffixes: suffixes, collision: collision) == paths)
            // Text stays text: no character is cut in two.
            let isAllText = Self.isText(shot.stem.bytes) && suffixes.allSatisfy { Self.isText($0.bytes) }
            if isAllText { for path in paths { #expect(Self.isText(path.bytes), "\(template.text): \(path.shown)") } }
            // Another number, another name.
            let next = template.paths(for: shot, suffixes: suffixes, collision: collision + 1)
            #expect(Set(next).isDisjoint(with: paths), "\(template.text)")
            // Where names that differ in case are one, too, once a collision has shown it.
            if collision > 0 {
                let folded = paths.map { $0.bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 } }
                #expect(Set(folded).count == paths.count, "\(template.text)")
            }
        }
        #expect(longest == 255)
    }
}
