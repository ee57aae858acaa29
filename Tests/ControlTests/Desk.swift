import Files
import Glibc
import HTTP
import PhotoModel
import Store
import Synchronization
import Testing

@testable import Control

/// A control desk over a real store and a real library folder, with a daemon that only notes what it is told.
final class Desk: Sendable {
    final class Pretended: Sendable {
        private let state = Mutex(Daemon())
        func withLock<Result: Sendable>(_ body: (inout Daemon) -> Result) -> Result { state.withLock { body(&$0) } }
        var orders: [String] { withLock { $0.orders } }
    }

    struct Daemon: Sendable {
        var state = DaemonState.running
        var reasons: [Problem] = []
        var mirror: DaemonView.Mirror?
        var drops: [DropHealth] = []
        var inFlight: [InFlightImport] = []
        /// What was ordered, in words.
        var orders: [String] = []
        var reload = DaemonOrders.ReloadOutcome.reloaded(.init(applied: ["log.level"], needsRestart: []))
        var cancel = Store.CancelOutcome.cancelled
        var imported = DaemonOrders.Imported(batch: nil, queued: 0, known: 0, groups: [], refused: [])
    }

    let folder: Path
    let store: Store
    let hub = EventHub()
    let daemon: Pretended
    let desk: ControlDesk
    let door: ControlDoor

    /// 2026-05-17T07:04:31Z
    static let now = Timestamp(seconds: 1_779_001_471)
    static let owner = Peer(pid: 1, uid: 4711, gid: 4711, groups: [])
    static let guest = Peer(pid: 1, uid: 5000, gid: 5000, groups: [])

    init() throws {
        var template = Array("/tmp/photospool-control-XXXXXX\0".utf8).map { CChar(bitPattern: $0) }
        guard unsafe mkdtemp(&template) != nil else { throw Errno.last }
        folder = Path(bytes: template.dropLast().map { UInt8(bitPattern: $0) })
        let held = try Folder(opening: folder)
        try held.makeFolders(at: Path("state"), mode: 0o700, gid: nil)
        try held.makeFolders(at: Path("library/2026"), mode: 0o700, gid: nil)
        let daemon = Pretended()
        self.daemon = daemon
        let store = try Store(directory: folder / "state", log: { _ in }, now: Self.now)
        self.store = store
        let library = folder / "library"
        let view = DaemonView(
            version: "1.2.3", state: { daemon.withLock { $0.state } },
            reasons: { daemon.withLock { $0.reasons } }, uptime: { .seconds(90) },
            inFlight: { daemon.withLock { $0.inFlight } }, drops: { daemon.withLock { $0.drops } },
            library: { .init(path: library, freeBytes: 1000) }, mirror: { daemon.withLock { $0.mirror } },
            rates: { (2, 3) },
            openLibrary: { () throws(Problem) in
                do throws(Errno) { return try Folder(opening: library) } catch {
                    throw Problem(.libraryOffline, "No library: \(error).")
                }
            })
        let note: @Sendable (String) -> Void = { order in daemon.withLock { $0.orders.append(order) } }
        let orders = DaemonOrders(
            pause: {
                note("pause")
                daemon.withLock { $0.state = .paused }
            }, resume: { note("resume") },
            rescan: { (name) throws(Problem) in
                note("rescan " + (name ?? "all"))
                guard name != "nowhere" else { throw Problem(.notFound, "There is no drop folder nowhere.") }
                return name.map { [$0] } ?? ["card", "nas"]
            },
            reload: { daemon.withLock { $0.reload } },
            importPaths: { paths, isDryRun in
                note((isDryRun ? "try " : "import ") + paths.map(\.shown).joined(separator: " "))
                return daemon.withLock { $0.imported }
            }, retry: { (id) throws(Problem) in try store.retry(id, at: Self.now) },
            retryAll: { () throws(Problem) in try store.retryAllFailed(at: Self.now) },
            cancel: { (id) throws(Problem) in
                _ = try store.cancel(id, at: Self.now)
                return daemon.withLock { $0.cancel }
            }, cancelBatch: { (id) throws(Problem) in try store.cancelBatch(id, at: Self.now) },
            deleteAsset: { (id) throws(Problem) in
                guard let asset = try store.asset(id) else { throw Problem(.notFound, "There is no asset \(id).") }
                let line = try store.reserveJournal(
                    what: "trash", job: nil, path: Path("x"), sha256: nil, detail: id, at: Self.now)
                try store.remove(asset, journal: line, isForGood: true, at: Self.now)
            },
            forgetAsset: { (id) throws(Problem) in
                let line = try store.reserveJournal(
                    what: "forget", job: nil, path: Path("x"), sha256: nil, detail: id, at: Self.now)
                return try store.forgetTombstones(of: id, journal: line)
            },
            order: { (kind, arguments) throws(Problem) in
                let id = try store.order(kind, arguments, at: Self.now)
                guard let operation = try store.operation(id) else { throw Problem(.notFound, "gone") }
                return operation
            },
            operation: { (id) throws(Problem) in
                guard let operation = try store.operation(id) else {
                    throw Problem(.notFound, "There is no operation \(id).")
                }
                return operation
            },
            cancelOperation: { (id) throws(Problem) in
                try store.finishOperation(id, as: .cancelled, problem: nil, results: [:], at: Self.now)
                guard let operation = try store.operation(id) else { throw Problem(.notFound, "gone") }
                return operation
            })
        door = ControlDoor(
            store: store, view: view, orders: orders,
            rights: Rights(uid: 4711, controlGroup: 2000, groupsOfUser: { uid, _ in uid == 6000 ? [2000] : [] }),
            hub: hub,
            now: { Self.now }, log: { _ in })
        desk = ControlDesk(door: door)
    }

    func ask(
        _ method: String, _ target: String, _ body: String = "", as peer: Peer? = Desk.owner,
        headers: [String: String] = [:], query: [(key: String, value: String)]? = []
    ) -> Reply {
        desk.respond(
            to: Request(
                method: method, target: target, query: query, headers: headers, body: Array(body.utf8), peer: peer))
    }

    func get(_ target: String, query: [(key: String, value: String)]? = []) -> Reply {
        ask("GET", target, query: query)
    }

    /// Queues a shot of one file, without a file.
    @discardableResult
    func enqueue(_ names: String..., verdict: Problem? = nil) throws -> [Job.ID] {
        let groups = names.map { name in
            SettledGroup(
                drop: "card",
                files: [
                    SettledFile(
                        path: Path("/drop/" + name), role: .photo, filesystem: "00000000000000ff",
                        stamp: FileStamp(device: 1, inode: 1, size: 1000, mtime: 1))
                ], verdict: verdict)
        }
        return try store.enqueue(groups, isManual: false, batch: nil, at: Self.now)
    }

    /// An asset with an original and a preview, in the catalog and in the library.
    func makeAsset(
        _ id: String, original: [UInt8], preview: [UInt8],
        capturedAt: WallTime = WallTime(year: 2026, month: 5, day: 17)
    ) throws {
        let library = try Folder(opening: folder / "library")
        for (path, bytes) in [(Path("2026/\(id).jpg"), original), (Path("2026/\(id)-preview.jpg"), preview)] {
            let file = try library.create(path, mode: 0o600)
            try file.write(bytes)
            try file.makeDurable()
        }
        try enqueue(id + ".jpg")
        let claim = try #require(try store.claim(importID: id, blockedDrops: [], at: Self.now))
        var facts = Facts()
        facts.capturedAt = capturedAt
        facts.make = "Canon"
        // sha256sum of "original"
        let digest = try #require(SHA256Digest(hex: "0682c5f2076f099c34cfdd15a9e063849ed437a49677e6fcc5b4198c76575be5"))
        let asset = Asset(
            id: id, kind: .photo, collection: "card", facts: facts,
            resources: [
                Resource(
                    role: .photo, path: Path("2026/\(id).jpg"), sourcePath: Path("/drop/\(id).jpg"),
                    size: Int64(original.count), sha256: digest, mtime: 1, mediaType: .jpeg)
            ],
            preview: AssetPreview(
                state: .ok, path: Path("2026/\(id)-preview.jpg"), size: PixelSize(width: 1200, height: 800)),
            importedAt: Self.now)
        let intent = CommitIntent(
            job: claim.job.id, importID: id,
            moves: [
                CommitIntent.Move(
                    staged: Path("s"), final: Path("2026/\(id).jpg"), sha256: digest, size: Int64(original.count),
                    device: 1, inode: 1)
            ], asset: asset, joinsExisting: false)
        let journal = try store.recordIntent(intent, for: claim, at: Self.now)
        try store.commit(intent, job: claim.job.id, importID: id, journal: journal, disposition: .keep, at: Self.now)
    }

    deinit {
        do { try Folder(opening: folder.parent).removeTree(folder.name) } catch { Issue.record(error) }
    }
}

extension Reply {
    var text: String {
        guard case .bytes(let bytes) = body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
