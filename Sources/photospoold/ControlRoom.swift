import Control
import Files
import Glibc
import Ingest
import PhotoModel
import Service
import Store
import Upkeep
import Watch
import Workers

/// The control socket and what stands behind it: views of the daemon, and people's orders carried out.
final class ControlRoom: Sendable {
    /// The name of the socket in photospool.socket.
    private static let activationName = "control"

    private let server: ControlServer

    init(daemon: Daemon) throws(Problem) {
        let settings = daemon.live.current.control
        let group: UInt32?
        if settings.group.isEmpty {
            group = nil
        } else {
            guard let found = Accounts.groupID(named: settings.group) else {
                throw Problem(
                    .config, "The group \(SafeText.of(settings.group)) of the control socket does not exist.",
                    todo: "Create the group, or correct control.group.")
            }
            group = found
        }
        let door = ControlDoor(
            store: daemon.store, view: Self.view(of: daemon), orders: Self.orders(for: daemon),
            rights: Rights(uid: geteuid(), controlGroup: group ?? getegid()), hub: daemon.hub,
            now: SystemClock.now, log: daemon.journal.log)
        let place: ControlServer.Place
        if let handedOver = daemon.activation?.take(named: Self.activationName) {
            place = .handedOver(handedOver)
        } else {
            try Self.makeFolder(of: settings.socket)
            place = .path(settings.socket, mode: settings.mode, gid: group)
        }
        let pool = daemon.servicePool
        let pictures = daemon.picturePool
        server = try ControlServer(
            at: place, door: door, dispatch: { makesPicture, work in (makesPicture ? pictures : pool).submit(work) })
    }

    func stop() { server.stop() }

    /// A user's runtime folder is not made by anybody else.
    private static func makeFolder(of socket: Path) throws(Problem) {
        do throws(Errno) {
            try StateDirectory.make(socket.parent)
        } catch {
            throw Problem(
                .config, "Could not make the folder of the control socket \(SafeText.of(socket)): \(error.description)."
            )
        }
    }

    private static func view(of daemon: Daemon) -> DaemonView {
        DaemonView(
            version: Release.version, state: { daemon.state }, reasons: { daemon.reasons },
            uptime: { SystemClock.monotonic() - daemon.startedAt }, inFlight: { daemon.inFlight.imports },
            drops: { daemon.watcher.health },
            library: {
                // Not being able to say how much is free is said by leaving it out; the outage has its own line.
                let free = try? daemon.keeper.library?.freeBytes().bytes
                return .init(path: daemon.live.current.library.path, freeBytes: free)
            },
            mirror: {
                daemon.mirror.status.map { mirror in
                    .init(
                        path: mirror.path, freeBytes: mirror.freeBytes, behind: mirror.behind, reasons: mirror.reasons,
                        isAtWork: daemon.mirror.isAtWork)
                }
            },
            rates: { daemon.rates.perSecond },
            openLibrary: { () throws(Problem) in
                guard let library = daemon.keeper.library else {
                    throw Problem(.libraryOffline, "The library is not there at the moment.")
                }
                do throws(Errno) { return try library.root.duplicate() } catch {
                    throw .library(library.path, error, doing: "open")
                }
            },
            picture: { (asset, side) throws(Problem) in
                let picture = try daemon.pictures.picture(of: asset, side: side)
                return .init(file: picture.file, size: picture.size, tag: picture.tag)
            },
            export: { (asset, side, spec) throws(Problem) in
                let picture = try daemon.pictures.export(asset, side: side, spec)
                return .init(
                    file: picture.file, size: picture.size, tag: picture.tag, isPartial: picture.isPartial)
            })
    }

    private static func orders(for daemon: Daemon) -> DaemonOrders {
        let store = daemon.store
        let dryRuns = DryRuns(daemon: daemon)
        return DaemonOrders(
            pause: { () throws(Problem) in try daemon.setPaused(true) },
            resume: { () throws(Problem) in try daemon.setPaused(false) },
            rescan: { (name) throws(Problem) in
                let names = daemon.live.current.drops.map(\.name)
                if let name, !names.contains(name) {
                    throw Problem(
                        .notFound, "There is no drop folder named \(SafeText.of(name)).",
                        todo: "`photospool status` lists them.")
                }
                daemon.watcher.rescan(name)
                return name.map { [$0] } ?? names
            },
            reload: { daemon.reload() },
            importPaths: { (paths, isDryRun) throws(Problem) in
                let settings = daemon.live.current
                let order = ManualImport(
                    settings: settings, store: store,
                    forecast: { (groups) throws(Problem) in try dryRuns.run(groups, settings: settings) })
                let outcome = try order.run(paths, isDryRun: isDryRun)
                if !isDryRun { daemon.room.wake() }
                return outcome
            },
            retry: { (job) throws(Problem) in
                try store.retry(job, at: SystemClock.now())
                daemon.news.tell([job])
                daemon.room.wake()
            },
            retryAll: { () throws(Problem) in
                let count = try store.retryAllFailed(at: SystemClock.now())
                daemon.room.wake()
                return count
            },
            cancel: { (job) throws(Problem) in
                let outcome = try daemon.room.cancel(job)
                daemon.news.tell([job])
                return outcome
            },
            cancelBatch: { (batch) throws(Problem) in
                let running = try daemon.room.cancelBatch(batch)
                daemon.hub.publish(.batch(id: batch))
                return running
            },
            deleteAsset: { (asset) throws(Problem) in try daemon.deleteAsset(asset) },
            forgetAsset: { (asset) throws(Problem) in try daemon.forgetAsset(asset) },
            order: { (kind, arguments) throws(Problem) in try daemon.upkeep.order(kind, arguments) },
            operation: { (id) throws(Problem) in try daemon.upkeep.operation(id) },
            cancelOperation: { (id) throws(Problem) in try daemon.upkeep.cancel(id) })
    }
}
