import Dispatch
import Files
import PhotoModel
import Preview
import Synchronization
import TestSupport
import Testing

@testable import Ingest

@Suite("Exports") struct PictureDeskTests {
    /// What each of them ended with, in the order in which they ended.
    private final class Ends: Sendable {
        private let codes = Mutex<[Problem.Code?]>([])
        func add(_ code: Problem.Code?) { codes.withLock { $0.append(code) } }
        var all: [Problem.Code?] { codes.withLock { $0 } }
    }

    /// The library does not answer until the test lets it: whoever is let in stays.
    @Test(.timeLimit(.minutes(1))) func `are made two at a time, and a third is told so at once`() async throws {
        let folder = try TemporaryFolder()
        let door = DispatchSemaphore(value: 0)
        let desk = PictureDesk(
            library: {
                door.wait()
                return nil
            },
            decoders: DecoderPool(program: Path("/nonexistent"), size: 1, deadline: .seconds(1), log: { _ in }),
            spec: { PreviewSpec() },
            shelf: PictureShelf(at: Path(folder.path + "/pictures"), limit: { .mebi(1) }, log: { _ in }), log: { _ in })
        let asset = Asset(
            id: "a", kind: .photo, collection: "", facts: Facts(), resources: [], preview: AssetPreview(state: .none),
            importedAt: Scene.start)
        let ends = Ends()
        @Sendable func export() {
            do throws(Problem) {
                _ = try desk.export(asset, side: nil, ExportSpec(format: .jpeg))
                ends.add(nil)
            } catch {
                ends.add(error.code)
            }
        }
        for _ in 0..<5 { DispatchQueue.global().async { export() } }
        while ends.all.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(ends.all == [.busy, .busy, .busy])
        for _ in 0..<2 { door.signal() }
        while ends.all.count < 5 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(ends.all.suffix(2) == [.libraryOffline, .libraryOffline])
        // Their places are free again.
        door.signal()
        export()
        #expect(ends.all.last == .libraryOffline)
    }
}
