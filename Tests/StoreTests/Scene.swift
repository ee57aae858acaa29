import Files
import Glibc
import PhotoModel
import SQLite
import Store
import Testing

/// A state directory of its own with a store in it, gone with the scene; and short words for what goes in.
final class Scene {
    let directory: Path
    let store: Store
    /// 2026-05-17T07:00:00Z
    static let start = Timestamp(seconds: 1_779_001_200)

    init() throws {
        directory = try Scene.makeDirectory()
        store = try Store(directory: directory, log: { _ in }, now: Scene.start)
    }

    deinit {
        for suffix in ["", "-wal", "-shm"] { unsafe unlink(directory.shown + "/spool.db" + suffix) }
        unsafe rmdir(directory.shown)
    }

    static func makeDirectory() throws -> Path {
        let name = "/tmp/photospool-store-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let made = unsafe mkdir(name, 0o700)
        try #require(made == 0)
        return Path(name)
    }

    /// A second process would see this; the daemon itself never opens the file twice.
    func raw() throws -> GuardedConnection {
        GuardedConnection(try Connection(opening: (directory / "spool.db").bytes, for: .readOnly))
    }

    func number(_ sql: String) throws -> Int64? {
        try raw().with { connection in
            try connection.first(sql) { row throws(SQLiteError) in try row.optionalInteger(0) } ?? nil
        }
    }

    static func at(_ seconds: Int64) -> Timestamp { start + .seconds(seconds) }

    static func file(
        _ path: String, role: Role = .photo, size: Int64 = 1000, mtime: Int64 = 1,
        filesystem: String = "00000000000000ff"
    ) -> SettledFile {
        SettledFile(
            path: Path(path), role: role, filesystem: filesystem,
            stamp: FileStamp(device: 1, inode: 7, size: size, mtime: mtime))
    }

    static func group(_ files: SettledFile..., drop: String = "card", verdict: Problem? = nil) -> SettledGroup {
        SettledGroup(drop: drop, files: files, verdict: verdict)
    }

    @discardableResult
    func enqueue(_ groups: [SettledGroup], at seconds: Int64 = 0) throws -> [Job.ID] {
        try store.enqueue(groups, isManual: false, batch: nil, at: Scene.at(seconds))
    }

    /// One job per path, in the drop `card`.
    @discardableResult
    func enqueue(_ paths: String..., at seconds: Int64 = 0) throws -> [Job.ID] {
        try enqueue(paths.map { Scene.group(Scene.file($0)) }, at: seconds)
    }

    func claim(_ importID: String = "import-1", blocked: Set<String> = [], at seconds: Int64 = 0) throws -> Store.Claim?
    {
        try store.claim(importID: importID, blockedDrops: blocked, at: Scene.at(seconds))
    }

    func isKnown(_ file: SettledFile, drop: String = "card") throws -> Bool {
        try store.isKnown(
            drop: drop, filesystem: file.filesystem, path: file.path, size: file.stamp.size, mtime: file.stamp.mtime)
    }

    static func digest(_ byte: UInt8) -> SHA256Digest { SHA256Digest(bytes: Array(repeating: byte, count: 32)) }

    static func intent(
        for claim: Store.Claim, asset: Asset.ID = "018f0000-0000-7000-8000-000000000001", hash: UInt8 = 1,
        joins: Bool = false, path: Path = Path("2026/IMG_1.JPG"), facts: Facts = Facts()
    ) -> CommitIntent {
        CommitIntent(
            job: claim.job.id, importID: claim.importID,
            moves: [
                CommitIntent.Move(
                    staged: Path(".photospool/staging/x/0"), final: path, sha256: digest(hash), size: 1000, device: 1,
                    inode: 99)
            ],
            asset: Asset(
                id: asset, kind: .photo, collection: "card", facts: facts,
                resources: [
                    Resource(
                        role: .photo, path: path, sourcePath: claim.job.files[0].path, size: 1000,
                        sha256: digest(hash), mtime: 1, mediaType: .jpeg)
                ], preview: AssetPreview(state: .none), importedAt: start), joinsExisting: joins)
    }

    /// Imports the next job to the end.
    @discardableResult
    func importNext(asset: Asset.ID, hash: UInt8, path: Path, facts: Facts = Facts()) throws -> Job.ID {
        let claim = try #require(try claim("import-\(asset)"))
        let intent = Scene.intent(for: claim, asset: asset, hash: hash, path: path, facts: facts)
        let journal = try store.recordIntent(intent, for: claim, at: Scene.start)
        try store.commit(
            intent, job: claim.job.id, importID: claim.importID, journal: journal, disposition: .keep, at: Scene.start)
        return claim.job.id
    }

    /// What the kept counts say, and what counting says. They must always agree.
    func expectTrueCounts(_ location: SourceLocation = #_sourceLocation) throws {
        let wrong = try number(
            """
            SELECT count(*) FROM tally WHERE jobs <> CASE name
                WHEN 'waiting' THEN (SELECT count(*) FROM job WHERE state = 'queued' AND not_before IS NOT NULL)
                ELSE (SELECT count(*) FROM job WHERE state = tally.name) END
            """)
        #expect(wrong == 0, sourceLocation: location)
        let wrongBatches = try number(
            """
            SELECT count(*) FROM batch WHERE total <> (SELECT count(*) FROM job WHERE batch_id = batch.id)
                OR failed <> (SELECT count(*) FROM job WHERE batch_id = batch.id AND state = 'failed')
                OR done <> (SELECT count(*) FROM job WHERE batch_id = batch.id
                    AND state NOT IN ('queued', 'copying', 'previewing', 'committing'))
            """)
        #expect(wrongBatches == 0, sourceLocation: location)
    }
}

/// The code of the problem that `body` throws; nil when it throws none.
func code(_ body: () throws -> Void) -> Problem.Code? {
    do {
        try body()
        return nil
    } catch let problem as Problem { return problem.code } catch {
        Issue.record("not a problem: \(error)")
        return nil
    }
}
