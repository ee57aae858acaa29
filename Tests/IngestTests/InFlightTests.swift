import Files
import PhotoModel
import Preview
import Store
import Testing
import Workers

@testable import Ingest

@Suite("An import that is under way") struct InFlightTests {
    private let clock = ManualClock()

    private func rooms(_ scene: Scene) -> ImportRooms {
        ImportRooms(
            store: scene.store,
            decoders: DecoderPool(program: Path("/nonexistent"), size: 1, deadline: .seconds(1), log: { _ in }),
            pool: BlockingPool(named: "import", width: 2), inFlight: InFlight(monotonic: clock.now) { _ in },
            event: { _ in }, log: { _ in }, now: { Scene.start }, newID: { "id" }, isStopping: { false })
    }

    @Test func `does not seem to stand still while it waits for another one, and is watched anew when it goes on`()
        async throws
    {
        let scene = try Scene()
        try scene.write([1], to: "drop/IMG_0001.JPG")
        let claim = try scene.claim([try scene.settled("IMG_0001.JPG")])
        let rooms = rooms(scene)
        rooms.inFlight.begin(claim.job, cancellation: Cancellation())
        rooms.inFlight.update(claim.job.id) { $0.phase = .previewing }
        let importer = Importer(
            rooms: rooms, library: try scene.library, claim: claim,
            plan: try #require(ImportPlan(job: claim.job, settings: scene.settings)), cancellation: Cancellation(),
            patience: nil)
        #expect(rooms.inFlight.progressMark == 1_000_000)
        let identities = rooms.identities
        await identities.acquire(["A1B2"])
        let mark = try await withThrowingTaskGroup(of: UInt64?.self) { group async throws -> UInt64? in
            group.addTask {
                try await importer.holding(rooms.identities, ["A1B2"]) { () throws(ImportEnded) in
                    rooms.inFlight.progressMark
                }
            }
            while identities.waiting == 0 { await Task.yield() }
            #expect(rooms.inFlight.progressMark == nil)
            clock.advance(500)
            identities.release(["A1B2"])
            return try await group.next() ?? nil
        }
        #expect(mark == 1_500_000)
    }
}
