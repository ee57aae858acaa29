import Files
import Foundation
import Ingest
import PhotoModel
import Store
import Synchronization
import TestSupport
import Testing

@testable import Upkeep

@Suite("A backup of the state", .tags(.neverLost)) struct BackupTests {
    @Test func `is whole, lies in the library, and has no operation that would go on`() throws {
        let scene = try UpkeepScene()
        try scene.store.set("mark", to: "here")
        let operation = BackupOperation(scene.rooms())
        let run = try scene.perform(.backup) { (run) throws(OperationRun.Ended) in try operation.run(run) }
        #expect(try scene.names("library/.photospool/backup") == ["ordered-2026-05-17T07-00-00Z.db"])
        #expect(try !scene.names("state").contains { $0.hasPrefix("backup") })
        let path = try #require(run.results["path"])
        #expect(path == scene.folder.path + "/library/.photospool/backup/ordered-2026-05-17T07-00-00Z.db")

        let other = scene.folder.url.appending(path: "other")
        try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path, toPath: other.path + "/spool.db")
        let restored = try Store(directory: Path(other.path), log: { _ in }, now: UpkeepScene.start)
        #expect(try restored.setting("mark") == "here")
        #expect(try restored.takeOperation() == nil)
        #expect(try restored.operation(run.operation.id)?.state == .cancelled)
        #expect(try restored.highestJournalID() == scene.store.highestJournalID())
    }

    @Test func `takes no name that is there, and keeps seven of each sort and whatever is not ours`() throws {
        let scene = try UpkeepScene()
        let time = Mutex(UpkeepScene.start)
        let operation = BackupOperation(scene.rooms { time.withLock { $0 } })
        for number in 0..<10 {
            time.withLock { $0 = UpkeepScene.start + .seconds(number / 2 * 86_400) }
            _ = try scene.perform(.backup, ["schedule": "daily"]) { (run) throws(OperationRun.Ended) in
                try operation.run(run)
            }
            if number == 3 {
                for name in ["mine.db", "daily-keep.db", ".unfinished"] {
                    try Data("x".utf8).write(
                        to: URL(filePath: scene.library.path.shown + "/.photospool/backup/" + name))
                }
            }
        }
        _ = try scene.perform(.backup) { (run) throws(OperationRun.Ended) in try operation.run(run) }
        let found = try scene.names("library/.photospool/backup")
        #expect(
            found == [
                "daily-2026-05-18T07-00-00Z.db", "daily-2026-05-19T07-00-00Z-2.db", "daily-2026-05-19T07-00-00Z.db",
                "daily-2026-05-20T07-00-00Z-2.db", "daily-2026-05-20T07-00-00Z.db", "daily-2026-05-21T07-00-00Z-2.db",
                "daily-2026-05-21T07-00-00Z.db", "daily-keep.db", "mine.db", "ordered-2026-05-21T07-00-00Z.db",
            ])
    }

    @Test func `is given up when it is cancelled, and leaves nothing`() throws {
        let scene = try UpkeepScene()
        let operation = BackupOperation(scene.rooms())
        #expect(throws: OperationRun.Ended.self) {
            _ = try scene.perform(.backup) { (run) throws(OperationRun.Ended) in
                run.cancel()
                try operation.run(run)
            }
        }
        #expect(try scene.names("library/.photospool/backup").isEmpty)
        #expect(try !scene.names("state").contains { $0.hasPrefix("backup") })
    }
}

@Suite("The daily backup") struct DailyBackupTests {
    private func daily(
        _ scene: UpkeepScene, mayWork: @escaping @Sendable () -> Bool = { true }, startedAt: Timestamp
    ) -> DailyBackup {
        let backup = BackupOperation(scene.rooms { startedAt })
        let desk = OperationDesk(
            store: scene.store, works: [.backup: { (run) throws(OperationRun.Ended) in try backup.run(run) }],
            before: {},
            log: { _ in }, now: { startedAt })
        return DailyBackup(
            store: scene.store, desk: desk, mayWork: mayWork, log: { _ in }, startedAt: startedAt)
    }

    private func happen(_ scene: UpkeepScene) throws {
        _ = try scene.store.reserveJournal(
            what: "move", job: 1, path: Path("/a"), sha256: nil, detail: nil, at: UpkeepScene.start)
    }

    @Test func `is ordered once a day, also over restarts`() throws {
        let scene = try UpkeepScene()
        try happen(scene)
        let first = daily(scene, startedAt: UpkeepScene.start)
        #expect(!first.look(at: UpkeepScene.start))
        #expect(first.look(at: UpkeepScene.start + .seconds(601)))
        #expect(!first.look(at: UpkeepScene.start + .seconds(5000)), "one waits already")
        let taken = try #require(try scene.store.takeOperation())
        #expect(taken.operation.arguments == ["schedule": "daily"])
        let done = UpkeepScene.start + .seconds(700)
        try DailyBackup.remember(done, in: scene.store)
        try scene.store.finishOperation(taken.operation.id, as: .done, problem: nil, results: [:], at: done)

        let second = daily(scene, startedAt: done)
        #expect(!second.look(at: done + .seconds(601)))
        #expect(!second.look(at: done + .seconds(23 * 3600)))
        #expect(second.look(at: done + .seconds(24 * 3600 + 1)))
    }

    @Test func `is not ordered while work is paused, nor of a state in which nothing has happened`() throws {
        let scene = try UpkeepScene()
        let isPaused = Atomic(true)
        let daily = daily(scene, mayWork: { !isPaused.load(ordering: .relaxed) }, startedAt: UpkeepScene.start)
        #expect(!daily.look(at: UpkeepScene.start + .seconds(700)))
        isPaused.store(false, ordering: .relaxed)
        #expect(!daily.look(at: UpkeepScene.start + .seconds(1400)), "nothing has happened")
        try happen(scene)
        isPaused.store(true, ordering: .relaxed)
        #expect(!daily.look(at: UpkeepScene.start + .seconds(2100)))
        isPaused.store(false, ordering: .relaxed)
        #expect(daily.look(at: UpkeepScene.start + .seconds(2800)))
    }
}
