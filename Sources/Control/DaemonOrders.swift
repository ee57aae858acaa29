package import PhotoModel
package import Store

/// What people may order, without knowing who carries it out. Called from threads that may wait; who gave the order has
/// been checked before.
package struct DaemonOrders: Sendable {
    /// What became of an import by hand.
    package struct Imported: Sendable {
        /// nil for a dry run, and when nothing was queued.
        package var batch: Batch.ID?
        /// Shots that were queued, or would be.
        package var queued: Int
        /// Files the spool knows already.
        package var known: Int
        /// For a dry run: the shots, and what would become of them.
        package var groups: [ImportForecast]
        /// For a dry run: what is passed over.
        package var ignored: [IgnoredName]
        /// What was asked for and is not imported.
        package var refused: [(path: Path, problem: Problem)]

        package init(
            batch: Batch.ID?, queued: Int, known: Int, groups: [ImportForecast] = [], ignored: [IgnoredName] = [],
            refused: [(path: Path, problem: Problem)]
        ) {
            self.batch = batch
            self.queued = queued
            self.known = known
            self.groups = groups
            self.ignored = ignored
            self.refused = refused
        }
    }

    /// What a reload changed, by the names of the keys.
    package struct Reloaded: Sendable {
        package var applied: [String]
        package var needsRestart: [String]
        package init(applied: [String], needsRestart: [String]) {
            self.applied = applied
            self.needsRestart = needsRestart
        }
    }

    package enum ReloadOutcome: Sendable {
        case reloaded(Reloaded)
        /// The old configuration stays in force. Never empty.
        case refused([Problem])
    }

    package var pause: @Sendable () throws(Problem) -> Void
    package var resume: @Sendable () throws(Problem) -> Void
    /// One drop folder by its name, or all.
    /// - Throws: `E_NOT_FOUND` for a name that there is not.
    /// - Returns: the names of the drop folders that are looked through.
    package var rescan: @Sendable (String?) throws(Problem) -> [String]
    package var reload: @Sendable () -> ReloadOutcome
    package var importPaths: @Sendable ([Path], _ isDryRun: Bool) throws(Problem) -> Imported
    package var retry: @Sendable (Job.ID) throws(Problem) -> Void
    /// - Returns: how many jobs are queued again.
    package var retryAll: @Sendable () throws(Problem) -> Int
    package var cancel: @Sendable (Job.ID) throws(Problem) -> Store.CancelOutcome
    /// - Returns: the jobs whose imports are being rolled back.
    package var cancelBatch: @Sendable (Batch.ID) throws(Problem) -> [Job.ID]
    /// Moves it to the trash for good.
    package var deleteAsset: @Sendable (Asset.ID) throws(Problem) -> Void
    /// Lets its bytes in again.
    /// - Returns: of how many files; 0 when none was kept out.
    package var forgetAsset: @Sendable (Asset.ID) throws(Problem) -> Int
    package var order: @Sendable (Operation.Kind, [String: String]) throws(Problem) -> Operation
    /// With the progress of this moment.
    package var operation: @Sendable (Operation.ID) throws(Problem) -> Operation
    package var cancelOperation: @Sendable (Operation.ID) throws(Problem) -> Operation

    package init(
        pause: @escaping @Sendable () throws(Problem) -> Void, resume: @escaping @Sendable () throws(Problem) -> Void,
        rescan: @escaping @Sendable (String?) throws(Problem) -> [String],
        reload: @escaping @Sendable () -> ReloadOutcome,
        importPaths: @escaping @Sendable ([Path], _ isDryRun: Bool) throws(Problem) -> Imported,
        retry: @escaping @Sendable (Job.ID) throws(Problem) -> Void,
        retryAll: @escaping @Sendable () throws(Problem) -> Int,
        cancel: @escaping @Sendable (Job.ID) throws(Problem) -> Store.CancelOutcome,
        cancelBatch: @escaping @Sendable (Batch.ID) throws(Problem) -> [Job.ID],
        deleteAsset: @escaping @Sendable (Asset.ID) throws(Problem) -> Void,
        forgetAsset: @escaping @Sendable (Asset.ID) throws(Problem) -> Int,
        order: @escaping @Sendable (Operation.Kind, [String: String]) throws(Problem) -> Operation,
        operation: @escaping @Sendable (Operation.ID) throws(Problem) -> Operation,
        cancelOperation: @escaping @Sendable (Operation.ID) throws(Problem) -> Operation
    ) {
        self.pause = pause
        self.resume = resume
        self.rescan = rescan
        self.reload = reload
        self.importPaths = importPaths
        self.retry = retry
        self.retryAll = retryAll
        self.cancel = cancel
        self.cancelBatch = cancelBatch
        self.deleteAsset = deleteAsset
        self.forgetAsset = forgetAsset
        self.order = order
        self.operation = operation
        self.cancelOperation = cancelOperation
    }
}
