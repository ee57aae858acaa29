import Files
import Ingest
import PhotoModel
import Store
import Upkeep

/// The operations there are, put together.
enum Upkeeping {
    static func desk(
        store: Store, keeper: LibraryKeeper, trash: Trash, live: LiveSettings, log: @escaping Log
    ) -> OperationDesk {
        let library: @Sendable () throws(Problem) -> Library = { () throws(Problem) in
            guard let library = keeper.library else {
                throw Problem(.libraryOffline, "The library is not there at the moment.")
            }
            return library
        }
        let verify = VerifyOperation(store: store, library: library)
        let undo = UndoOperation(
            store: store, trash: trash, library: library, drops: { live.current.drops }, now: SystemClock.now)
        let manifest = ManifestOperation(store: store, library: library, now: SystemClock.now)
        let check = CheckOperation(store: store)
        return OperationDesk(
            store: store,
            works: [
                .verify: { (run) throws(OperationRun.Ended) in try verify.run(run) },
                .manifest: { (run) throws(OperationRun.Ended) in try manifest.run(run) },
                .check: { (run) throws(OperationRun.Ended) in try check.run(run) },
                .undo: { (run) throws(OperationRun.Ended) in try undo.run(run) },
            ],
            before: { () throws(Problem) in try trash.finishInterrupted(in: try library()) }, log: log,
            now: SystemClock.now)
    }
}

extension Daemon {
    func deleteAsset(_ asset: Asset.ID) throws(Problem) {
        guard let library = keeper.library else {
            throw Problem(.libraryOffline, "The library is not there at the moment.")
        }
        try trash.finishInterrupted(in: library)
        try trash.take(asset, out: library, for: .delete)
    }
}
