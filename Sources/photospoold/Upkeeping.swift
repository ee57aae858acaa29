import Files
import Ingest
import PhotoModel
import Preview
import Store
import Upkeep

/// The operations there are, put together.
enum Upkeeping {
    static func desk(
        store: Store, keeper: LibraryKeeper, trash: Trash, decoders: DecoderPool, live: LiveSettings,
        log: @escaping Log
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
        let backup = BackupOperation(store: store, library: library, now: SystemClock.now)
        let rebuild = RebuildOperation(store: store, library: library, drops: { live.current.drops })
        let adopt = AdoptOperation(store: store) { () throws(Problem) in
            Adoption(
                library: try library(), store: store, decoders: decoders, spec: PreviewSpec(live.current.preview),
                log: log, now: SystemClock.now, newID: Machine.newID)
        }
        return OperationDesk(
            store: store,
            works: [
                .verify: { (run) throws(OperationRun.Ended) in try verify.run(run) },
                .manifest: { (run) throws(OperationRun.Ended) in try manifest.run(run) },
                .check: { (run) throws(OperationRun.Ended) in try check.run(run) },
                .backup: { (run) throws(OperationRun.Ended) in try backup.run(run) },
                .rebuild: { (run) throws(OperationRun.Ended) in try rebuild.run(run) },
                .adopt: { (run) throws(OperationRun.Ended) in try adopt.run(run) },
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
