import Files
import PhotoModel
import Preview
import Store
import Synchronization
import TestSupport
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

    /// The drop folder `card` does not answer, until it does.
    final class Silence: Sendable {
        private let drops = Mutex<Set<String>>(["card"])
        var now: Set<String> { drops.withLock { $0 } }
        func end() { drops.withLock { $0 = [] } }
    }

    private func room(_ scene: Scene, _ silent: Silence) -> ImportRoom {
        let settings = scene.settings
        return ImportRoom(
            rooms: rooms(scene), keeper: LibraryKeeper(store: scene.store, log: { _ in }, now: { Scene.start }),
            outages: Outages(isPaused: false, monotonic: clock.now), settings: { settings },
            signals: ImportRoom.Signals(
                imported: { _ in }, sourceChanged: { _ in }, isDrained: { true }, endsWhenDrained: false,
                hasCrashed: { false }, crashIsCounted: {}, silentDrops: { silent.now }))
    }

    @Test func `leaves what is owed to a drop folder that does not answer, its claims too`() throws {
        let scene = try Scene(afterImport: .delete)
        let shot = try scene.stage(["IMG_0001.HEIC"], withPreview: false)
        _ = try scene.commitStep.run(
            shot.intent, claim: shot.claim, disposition: .pending, alternative: shot.builder.intent(collision:))
        // A claim that a dead process left; it is put back by whoever touches the folder.
        try scene.write([1], to: "drop/IMG_0002.HEIC")
        let other = try scene.claim([try scene.settled("IMG_0002.HEIC")], importID: "other").job
        let id = try scene.store.reserveJournal(
            what: "delete", job: other.id, path: other.files[0].path, sha256: nil, detail: nil, at: Scene.start)
        #expect(
            try SourceClaims(drop: scene.drop.path).claim(
                Path("IMG_0002.HEIC"), as: id, expecting: other.files[0].stamp))
        let before = scene.files(below: "drop")
        scene.close()
        let silent = Silence()
        let room = room(scene, silent)
        _ = try room.keeper.open(scene.librarySettings)
        try room.disposePending()
        #expect(scene.files(below: "drop") == before)
        #expect(try scene.store.job(shot.claim.job.id)?.disposition == .pending)
        silent.end()
        try room.disposePending()
        #expect(scene.files(below: "drop") == ["IMG_0002.HEIC"])
        #expect(try scene.store.job(shot.claim.job.id)?.disposition == .deleted)
    }

    @Test func `goes on at once when another card is in the slot of the one it waits for, and nobody looks again`()
        throws
    {
        let scene = try Scene()
        try scene.write([1], to: "drop/IMG_0001.JPG")
        var file = try scene.settled("IMG_0001.JPG")
        file.filesystem += "-9c1f33aa-7"
        let claim = try scene.claim([file])
        let silent = Silence()
        let room = room(scene, silent)
        try scene.store.postpone(claim, problem: Problem(.sourceIO, "Away."), notBefore: Scene.start + AwayDrops.gap)
        _ = room.away.add(.init(drop: "card", root: scene.drop.path, filesystem: file.filesystem), file)
        room.lookForSources()
        #expect(room.away.all.count == 1)  // it does not answer
        silent.end()
        room.lookForSources()
        #expect(room.away.all.isEmpty)
        #expect(try scene.store.job(claim.job.id)?.notBefore == nil)
    }

    @Test func `is begun for a drop folder that answers, and for another not before it does`()
        async throws
    {
        let scene = try Scene(afterImport: .delete)
        try scene.write([1], to: "drop/IMG_0001.JPG")
        try scene.write([2], to: "drop/IMG_0002.JPG")
        let files = try ["IMG_0001.JPG", "IMG_0002.JPG"].map { try scene.settled($0) }
        _ = try scene.store.enqueue(
            [SettledGroup(drop: "card", files: [files[0]]), SettledGroup(drop: "phone", files: [files[1]])],
            isManual: false, batch: nil, at: Scene.start)
        let silent = Silence()
        let room = room(scene, silent)
        room.isSettled()
        #expect(room.claim()?.claim.job.drop == "phone")
        #expect(room.claim() == nil)
        silent.end()
        #expect(room.claim()?.claim.job.drop == "card")
    }

    @Test(arguments: [true, false])
    func `that was to be parted is cancelled when a person says so before that is recorded, and after it in part`(
        isInTime: Bool
    ) throws {
        let scene = try Scene()
        for name in ["IMG_0001.JPG", "IMG_0001.DNG"] { try scene.write(Array(name.utf8), to: "drop/" + name) }
        let files = [try scene.settled("IMG_0001.JPG"), try scene.settled("IMG_0001.DNG", role: .alternatePhoto)]
        let group = SettledGroup(drop: "card", files: files)
        let id = try scene.store.enqueue([group], isManual: false, batch: nil, at: Scene.start)[0]
        let silent = Silence()
        silent.end()
        let room = room(scene, silent)
        room.isSettled()
        let holding = try #require(room.claim())
        let parts = files.map { SettledGroup(drop: "card", files: [$0]) }
        let plan = try #require(ImportPlan(job: holding.claim.job, settings: scene.settings))
        // The importer has ended and found two shots; nothing is recorded yet.
        if isInTime { #expect(try room.cancel(id) == .inFlight) }
        room.close(holding, .parted(parts), plan: plan)
        if !isInTime { #expect(try room.cancel(id) == .cancelled) }
        let jobs = try scene.store.jobs(JobFilter(), limit: 10).items.sorted { $0.id < $1.id }
        #expect(jobs.map(\.state) == (isInTime ? [.cancelled] : [.cancelled, .queued]))
        // Nothing is lost: each file is still some job's, and that can be tried again.
        #expect(
            Set(try jobs.flatMap { try #require(try scene.store.job($0.id)).files.map(\.path) })
                == Set(files.map(\.path)))
        try scene.store.retry(id, at: Scene.start)
        #expect(try scene.store.job(id)?.state == .queued)
        #expect(
            try #require(try scene.store.job(id)).files.map(\.path) == (isInTime ? files.map(\.path) : [files[0].path]))
    }

    @Test(
        arguments: [
            .waitsForShot(99), .sourceChanged, .alone, .tryLater(Problem(.sourceIO, "Unreadable.")),
            .outage(Problem(.libraryFull, "Full.")), .doesNotFit(Problem(.libraryFull, "Full.")),
            .orphan(Problem(.orphan, "Alone."), seen: []),
        ] as [ImportOutcome])
    func `is cancelled whatever it was to be tried again for`(outcome: ImportOutcome) throws {
        let scene = try Scene()
        try scene.write([1], to: "drop/IMG_0001.xmp")
        let id = try scene.store.enqueue(
            [SettledGroup(drop: "card", files: [try scene.settled("IMG_0001.xmp", role: .sidecar)])], isManual: false,
            batch: nil, at: Scene.start)[0]
        let silent = Silence()
        silent.end()
        let room = room(scene, silent)
        room.isSettled()
        let holding = try #require(room.claim())
        #expect(try room.cancel(id) == .inFlight)
        room.close(holding, outcome, plan: try #require(ImportPlan(job: holding.claim.job, settings: scene.settings)))
        #expect(try scene.store.job(id)?.state == .cancelled)
        #expect(room.rooms.inFlight.imports.isEmpty)
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
