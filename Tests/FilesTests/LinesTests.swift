import Files
import PhotoModel
import Testing

@Suite("The lines of a file") struct LinesTests {
    private func lines(_ bytes: [UInt8], longest: Int = 16 << 20) throws -> [(text: [UInt8], offset: Int64)] {
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: Path("f"))
        let file = try folder.folder.openForReading(Path("f"))
        var found: [(text: [UInt8], offset: Int64)] = []
        let asItIs: (Errno) -> Errno = { $0 }
        try file.forEachLine(longest: longest, translate: asItIs) { (line, offset) throws(Errno) in
            found.append((Array(line), offset))
            return true
        }
        for (text, offset) in found { #expect(try file.readBytes(count: text.count, at: offset) == text) }
        return found
    }

    @Test func `are those that end in a newline, each with its place, however long and across whatever piece`() throws {
        var bytes: [UInt8] = []
        var expected: [[UInt8]] = []
        for number in 0..<400 {
            let line = [UInt8](repeating: UInt8(ascii: "a") + UInt8(number % 26), count: (number * 7919) % 20_000 + 1)
            expected.append(line)
            bytes += line + [UInt8(ascii: "\n")]
            if number % 50 == 0 { bytes.append(UInt8(ascii: "\n")) }
        }
        #expect(bytes.count > 3 << 20)
        #expect(try lines(bytes + Array("torn".utf8)).map(\.text) == expected)
        #expect(try lines([]).isEmpty)
        #expect(try lines(Array("torn".utf8)).isEmpty)
    }

    @Test func `leave out what is too long, and go on behind it`() throws {
        let long = [UInt8](repeating: UInt8(ascii: "x"), count: 3 << 20)
        let found = try lines(Array("one\n".utf8) + long + Array("\ntwo\nthree\n".utf8), longest: 1 << 20)
        #expect(found.map { String(decoding: $0.text, as: UTF8.self) } == ["one", "two", "three"])
    }
}
