import Metadata
import PhotoModel
import Testing

/// Canon's CRW of before 2005 (CIFF): heaps of records, which may be heaps again.
@Suite("A CRW") struct HeapTests {
    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(value >> ($0 * 8) & 255) }
    }

    /// Whoever followed each of them would be busy for 250 to the power of seven steps.
    @Test(.timeLimit(.minutes(1)))
    func `whose heaps hold themselves 250 times over is left alone`() {
        let count = 250
        let length = 2 + count * 10 + 4
        let record = Self.number(0x2800, 2) + Self.number(length, 4) + Self.number(0, 4)
        let heap = Self.number(count, 2) + Array(repeatElement(record, count: count).joined()) + Self.number(0, 4)
        let header = Array("II".utf8) + Self.number(26, 4) + Array("HEAPCCDR".utf8)
        let file = header + [UInt8](repeating: 0, count: 26 - header.count) + heap
        let inspection = Inspector.inspect(ByteSource(file))
        #expect(inspection.mediaType == .raw)
        #expect(inspection.facts.size == nil)
        #expect(EmbeddedPictures(ByteSource(file)).jpegs.isEmpty)
    }
}
