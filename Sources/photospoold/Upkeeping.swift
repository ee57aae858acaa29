import Files
import Ingest
import PhotoModel
import Preview
import Store
import Upkeep

/// The operations there are, put together.
enum Upkeeping {
    static func desk(
        store: Store, keeper: LibraryKeeper, mirror: MirrorRoom, trash: Trash, decoders: DecoderPool,
        live: LiveSettings, log: @escaping Log
    ) -> OperationDesk {
        let library: @Sendable () throws(Problem) -> Library = { () throws(Problem) in
            guard let library = keeper.library else {
                throw Problem(.libraryOffline, "The library is not there at the moment.")
            }
            return library
        }
        let rooms = UpkeepRooms(
            store: store, library: library, drops: { live.current.drops }, log: log, now: SystemClock.now)
        let verify = VerifyOperation(rooms, mirror: { () throws(Problem) in try mirror.mirror() })
        let undo = UndoOperation(rooms, trash: trash)
        let manifest = ManifestOperation(rooms)
        let check = CheckOperation(rooms)
        let backup = BackupOperation(rooms)
        let rebuild = RebuildOperation(rooms, trash: trash)
        let adopt = AdoptOperation(rooms) { () throws(Problem) in
            Adoption(
                library: try library(), store: store, decoders: decoders, spec: PreviewSpec(live.current.preview),
                log: log, now: SystemClock.now, newID: Machine.newID)
        }
        let previews = PreviewsOperation(rooms) { () throws(Problem) in
            PreviewMaker(
                library: try library(), store: store, decoders: decoders, spec: PreviewSpec(live.current.preview),
                log: log, now: SystemClock.now, newID: Machine.newID)
        }
        let sweep = SweepOperation(rooms)
        return OperationDesk(
            store: store,
            works: [
                .verify: { (run) throws(OperationRun.Ended) in try verify.run(run) },
                .manifest: { (run) throws(OperationRun.Ended) in try manifest.run(run) },
                .check: { (run) throws(OperationRun.Ended) in try check.run(run) },
                .backup: { (run) throws(OperationRun.Ended) in try backup.run(run) },
                .rebuild: { (run) throws(OperationRun.Ended) in try rebuild.run(run) },
                .previews: { (run) throws(OperationRun.Ended) in try previews.run(run) },
                .sweep: { (run) throws(OperationRun.Ended) in try sweep.run(run) },
                .adopt: { (run) throws(OperationRun.Ended) in try adopt.run(run) },
                .undo: { (run) throws(OperationRun.Ended) in try undo.run(run) },
            ],
            before: { () throws(Problem) in
                let library = try library()
                try library.checkNotAhead(of: store)
                try trash.finishInterrupted(in: library)
            }, log: log,
            now: SystemClock.now)
    }
}

extension Daemon {
    func deleteAsset(_ asset: Asset.ID) throws(Problem) {
        let library = try openLibrary()
        try trash.finishInterrupted(in: library)
        try trash.take(asset, out: library, for: .delete)
        mirror.wake()
    }

    func forgetAsset(_ asset: Asset.ID) throws(Problem) -> Int { try trash.forget(asset, library: try openLibrary()) }

    /// - Throws: `E_STATE_STALE` too: such a state would number its acts as others are numbered already.
    private func openLibrary() throws(Problem) -> Library {
        guard let library = keeper.library else {
            throw Problem(.libraryOffline, "The library is not there at the moment.")
        }
        try library.checkNotAhead(of: store)
        return library
    }
}
