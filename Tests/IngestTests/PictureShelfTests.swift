import Files
import Foundation
import PhotoModel
import TestSupport
import Testing

@testable import Ingest

@Suite("The shelf of pictures made on request") struct PictureShelfTests {
    @Test func `hands out a file without a name, of which nothing is left once it is closed`() throws {
        let folder = try TemporaryFolder()
        let place = folder.path + "/pictures"
        let shelf = PictureShelf(at: Path(place), limit: { .mebi(1) }, log: { _ in })
        let bytes = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try shelf.unnamed(bytes)
        #expect(try file.descriptor.readAll(limit: 1 << 20) == bytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
        // It lies on a disk, not in memory: that is what it is for.
        let link = try FileManager.default.destinationOfSymbolicLink(
            atPath: "/proc/self/fd/\(file.descriptor.rawValue)")
        #expect(link.hasPrefix(place) && link.hasSuffix(" (deleted)"))
        #expect(shelf.total == ByteCount(0))
    }
}
