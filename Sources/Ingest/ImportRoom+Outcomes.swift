import Files
import PhotoModel
import Preview
import Store
import Synchronization

/// Every outcome is recorded, whatever it is; when the state cannot take it, recovery finds the job later.
extension ImportRoom {
    func record(_ outcome: ImportOutcome, of claim: Store.Claim, plan: ImportPlan) {
        let job = claim.job
        do throws(Problem) {
            switch outcome {
            case .imported(let asset):
                tell(job, .imported, asset: asset)
                rooms.log(
                    LogLine(.info, "Imported.", [("JOB_ID", String(job.id)), ("ASSET_ID", asset)] + path(of: job)))
                try dispose(of: job.id, after: plan)
            case .duplicate(let asset):
                try rooms.store.finish(
                    claim, as: .duplicate, problem: nil, asset: asset, disposition: plan.dispositionAfterImport,
                    at: rooms.now())
                tell(job, .duplicate, asset: asset)
                rooms.log(
                    LogLine(
                        .info, "The library holds this photo already.",
                        [("JOB_ID", String(job.id)), ("ASSET_ID", asset)] + path(of: job)))
                try dispose(of: job.id, after: plan)
            case .ended(let state, let problem): try end(claim, as: state, problem)
            case .tryLater(let problem): try tryLater(claim, problem)
            case .outage(let problem):
                note(problem)
                try rooms.store.giveBack(claim)
                tell(job, .queued, problem: problem)
            case .sourceChanged(let path):
                try rooms.store.returnToCandidate(claim)
                signals.sourceChanged(path)
                rooms.log(
                    LogLine(
                        .info, "A source changed while it was imported; it settles anew.",
                        [("JOB_ID", String(job.id)), ("PATH", SafeText.of(path))]))
            case .dropAway(let filesystem):
                away.add(job.drop, filesystem: filesystem)
                try rooms.store.giveBack(claim)
                tell(job, .queued)
                rooms.log(
                    LogLine(.warning, "A drop folder is away; its queued photos wait for it.", [("DROP", job.drop)]))
            case .cancelled:
                try rooms.store.finish(
                    claim, as: .cancelled, problem: nil, asset: nil, disposition: .keep, at: rooms.now())
                tell(job, .cancelled)
            case .stopped: try rooms.store.giveBack(claim)
            case .unresolved(let problem):
                note(problem)
                requireRecovery()
            }
        } catch {
            // A claim that is no longer ours has its own story; anything else is the state's trouble.
            if error.code == .conflict {
                rooms.log(LogLine(.info, error, [("JOB_ID", String(job.id))]))
            } else {
                note(error)
                requireRecovery()
            }
        }
    }

    func finish(_ claim: Store.Claim, as state: JobState, problem: Problem) {
        do throws(Problem) {
            try end(claim, as: state, problem)
        } catch {
            note(error)
            requireRecovery()
        }
    }

    private func end(_ claim: Store.Claim, as state: JobState, _ problem: Problem) throws(Problem) {
        try rooms.store.finish(claim, as: state, problem: problem, asset: nil, disposition: .keep, at: rooms.now())
        tell(claim.job, state, problem: problem)
        rooms.log(
            LogLine(
                state == .failed ? .warning : .info, problem,
                [("JOB_ID", String(claim.job.id)), ("STATE", state.rawValue)] + path(of: claim.job)))
    }

    private func tryLater(_ claim: Store.Claim, _ problem: Problem) throws(Problem) {
        guard claim.job.attempts < settings().importing.maxAttempts else {
            return try end(claim, as: .failed, problem)
        }
        let gap = RetrySchedule.gap(afterAttempt: claim.job.attempts, jitter: Double.random(in: -1...1))
        try rooms.store.retryLater(claim, problem: problem, notBefore: rooms.now() + gap)
        tell(claim.job, .queued, problem: problem)
        rooms.log(
            LogLine(
                .warning, problem,
                [("JOB_ID", String(claim.job.id)), ("RETRY_IN", "\(gap.components.seconds) s")] + path(of: claim.job)))
    }

    private func path(of job: Job) -> [(String, String)] {
        job.files.first.map { [("PATH", SafeText.of($0.path))] } ?? []
    }

    // MARK: Disposition

    private func dispose(of id: Job.ID, after plan: ImportPlan) throws(Problem) {
        guard plan.dispositionAfterImport == .pending, let job = try rooms.store.job(id) else { return }
        try dispose(of: job)
    }

    private func dispose(of job: Job) throws(Problem) {
        guard let library = keeper.library, let drop = settings().drops.first(where: { $0.name == job.drop }) else {
            return
        }
        // One at a time, over its system calls: the pulse must not take up what a worker is just doing.
        try dispositionTurn.withLock { _ throws(Problem) in
            guard try rooms.store.job(job.id)?.disposition == .pending else { return }
            try DispositionStep(library: library, store: rooms.store, now: rooms.now, log: rooms.log)
                .run(job, drop: drop)
        }
    }

    /// Does what is still owed to sources: by a process that died, or while a drop folder was away.
    func disposePending() throws(Problem) {
        guard let library = keeper.library else { return }
        let pending = try rooms.store.pendingDispositions()
        let step = DispositionStep(library: library, store: rooms.store, now: rooms.now, log: rooms.log)
        for drop in settings().drops {
            try dispositionTurn.withLock { _ throws(Problem) in try step.finishClaims(in: drop) }
        }
        for job in pending { try dispose(of: job) }
    }

    // MARK: Drops that are away

    /// Lets the jobs of a drop go on once the filesystem they were found on is there again.
    func lookForDrops() {
        let drops = settings().drops
        for (name, filesystem) in away.all {
            guard let drop = drops.first(where: { $0.name == name }) else {
                away.remove(name)  // no longer configured: its jobs end when they are claimed
                continue
            }
            do throws(Errno) {
                guard try Folder(opening: drop.path).filesystem().id == filesystem else { continue }
            } catch {
                continue  // still away
            }
            away.remove(name)
            rooms.log(LogLine(.info, "A drop folder is back.", [("DROP", name)]))
        }
    }

    // MARK: Outages

    /// Looks whether an outage is over.
    func probe(_ outage: Problem) {
        do throws(Problem) {
            switch outage.code {
            case .libraryOffline, .marker, .locked:
                try keeper.open(settings().library)
                // What was committing when it went away is still there to be settled.
                requireRecovery()
            case .libraryFull:
                let library = try keeper.open(settings().library)
                // Whether the next photo fits is for its own import to find out; each refusal doubles the gap.
                guard try library.freeBytes() > settings().library.reserveFree else { return }
            case .decoderMissing:
                guard rooms.decoders.probe() else { return }
            case .stateIO:
                try rooms.store.set("probe", to: rooms.now().rfc3339)
            default: break
            }
        } catch {
            if error.code != outage.code { note(error) }
            return
        }
        outages.end(outage.code)
        rooms.log(LogLine(.info, "Work goes on.", [("CODE", outage.code.rawValue)]))
    }
}
