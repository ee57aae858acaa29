import PhotoModel

/// The first line is the template, the second the model, all else one name a line.
func readNames(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { Path(bytes: Array($0)) }
    guard lines.count > 2 else { return }
    let names = lines[2...].filter { !$0.isEmpty && !$0.bytes.contains(0) && !$0.bytes.contains(UInt8(ascii: "/")) }
    let glob = Glob(lines[1].shown)
    for name in names {
        _ = ShotName(name)
        _ = CaptureDate.wallTime(inName: name)
        _ = glob?.matches(name: name, path: Path("100CANON") / name, isFolder: false)
        expect(!SafeText.of(name).unicodeScalars.contains { $0.value < 32 }, "no control byte reaches a terminal")
        for other in names {
            expect(
                !(NaturalOrder.precedes(name, other) && NaturalOrder.precedes(other, name)), "an order has a direction")
        }
    }
    // Whatever is wrong with a template is said before it is used.
    guard let first = names.first, let template = try? NamingTemplate(lines[0].shown) else { return }
    let shot = NamingTemplate.Shot(
        capturedAt: CaptureDate.wallTime(inName: first) ?? WallTime(secondsSince1970: 0), make: lines[0].shown,
        model: lines[1].shown, lens: first.shown, stem: ShotName(first).stem, drop: "card",
        batch: 3, sequence: 7, sha256: SHA256Digest(bytes: [UInt8](repeating: 0xAB, count: 32)),
        id: "01890a5d-ac96-774b-bcce-b302099a8058")
    let suffixes = names.prefix(8).map { NamingTemplate.suffix(of: $0, after: ShotName(first).stem) }
    let paths = template.paths(for: shot, suffixes: suffixes, collision: bytes.count % 3)
    expect(paths.count == suffixes.count && Set(paths).count == paths.count, "each file has a name of its own")
    for path in paths {
        expect(!path.isAbsolute && path.bytes.last != UInt8(ascii: "/"), "a name stays in the library")
        for component in path.bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            expect((1...255).contains(component.count), "a name fits into a directory")
            expect(component.first != UInt8(ascii: "."), "no name is hidden")
            expect(component.allSatisfy { $0 >= 32 && $0 != 127 }, "no control byte in a name")
        }
    }
}
