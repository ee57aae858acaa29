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

    /// The queue and the catalog lie on that disk, too.
    @Test func `leaves 128 MiB of its disk free, whatever its bound is`() throws {
        guard try Mount.isPossible(for: "a shelf on a small disk") else { return }
        let folder = try TemporaryFolder()
        let disk = try Mount(at: folder.url, bytes: 259 << 19)  // 129.5 MiB
        let shelf = PictureShelf(at: Path(folder.path + "/pictures"), limit: { .mebi(64) }, log: { _ in })
        let small = [UInt8](repeating: 1, count: 1 << 20)
        let large = [UInt8](repeating: 2, count: 3 << 20)
        shelf.put(large, tag: "0123456789abcdef", as: "large")
        #expect(shelf.take("large") == nil)
        #expect(throws: Errno.noSpace) { _ = try shelf.unnamed(large) }
        shelf.put(small, tag: "0123456789abcdef", as: "small")
        #expect(shelf.take("small")?.size == 1 << 20)
        #expect(throws: Errno.noSpace) { _ = try shelf.unnamed(small) }
        #expect(try shelf.unnamed([UInt8](repeating: 3, count: 4096)).descriptor.status().stamp.size == 4096)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/pictures").count == 1)
        try disk.end()
    }
}
