import Files
package import PhotoModel
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
                signals.imported(job.files.reduce(0) { $0 + $1.stamp.size })
                rooms.log(
                    LogLine(.info, "Imported.", [("JOB_ID", String(job.id)), ("ASSET_ID", asset)] + path(of: job)))
                if plan.dispositionAfterImport == .pending { owed.ring() }
            case .duplicate(let asset):
                let orphans = try rooms.store.finish(
                    claim, as: .duplicate, problem: nil, asset: asset, disposition: plan.dispositionAfterImport,
                    at: rooms.now())
                tell(job, .duplicate, asset: asset)
                rooms.log(
                    LogLine(
                        .info, "The library holds this photo already.",
                        [("JOB_ID", String(job.id)), ("ASSET_ID", asset)] + path(of: job)))
                if plan.dispositionAfterImport == .pending { sourcesMayGo() }
                for orphan in orphans { if let job = try rooms.store.job(orphan) { tell(job, .queued) } }
            case .ended(let state, let problem): try end(claim, as: state, problem)
            case .orphan(let problem, let seen):
                let state = try rooms.store.finish(orphan: claim, problem: problem, seen: seen, at: rooms.now())
                if state == .failed { report(claim, state, problem) } else { tell(job, state) }
            case .tryLater(let problem): try tryLater(claim, problem)
            case .outage(let problem):
                note(problem)
                try rooms.store.giveBack(claim)
                tell(job, .queued, problem: problem)
            case .doesNotFit(let problem):
                try rooms.store.postpone(claim, problem: problem, notBefore: rooms.now() + AwayDrops.gap)
                crowded.add(job.id, .init(drop: job.drop, bytes: Importer.room(for: job, plan), problem: problem))
                tell(job, .queued, problem: problem)
                rooms.log(LogLine(.warning, problem, [("JOB_ID", String(job.id))] + path(of: job)))
            case .mayStillArrive(let problem, let time):
                try rooms.store.postpone(claim, problem: problem, notBefore: time)
                tell(job, .queued, problem: problem)
                rooms.log(LogLine(.info, problem, [("JOB_ID", String(job.id))] + path(of: job)))
            case .waitsForShot(let shot):
                try rooms.store.wait(claim, for: shot)
                tell(job, .queued)
            case .parted(let groups): try part(claim, into: groups)
            case .alone: try returnToWatcher(claim, saying: "A sidecar's photo is gone; it waits for it anew.")
            case .sourceChanged: try settleAnew(claim)
            case .sourceAway(let filesystem): try waitForSource(claim, plan: plan, filesystem: filesystem)
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
        report(claim, state, problem)
    }

    private func report(_ claim: Store.Claim, _ state: JobState, _ problem: Problem) {
        report(claim.job, state, problem)
    }

    private func report(_ job: Job, _ state: JobState, _ problem: Problem) {
        tell(job, state, problem: problem)
        rooms.log(
            LogLine(
                state == .failed ? .warning : .info, problem,
                [("JOB_ID", String(job.id)), ("STATE", state.rawValue)] + path(of: job)))
    }

    private func part(_ claim: Store.Claim, into groups: [SettledGroup]) throws(Problem) {
        let jobs = try rooms.store.part(claim, into: groups, at: rooms.now())
        tell(claim.job, .queued)
        rooms.log(
            LogLine(
                .info, "Files of one name are not one shot; each shot is imported by itself.",
                [("JOB_ID", String(claim.job.id)), ("JOBS", jobs.map(String.init).joined(separator: " "))]
                    + path(of: claim.job)))
        for id in jobs {
            guard let job = try rooms.store.job(id) else { continue }
            if let problem = job.problem { report(job, job.state, problem) } else { tell(job, job.state) }
        }
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

    /// The whole shot is looked at again, so that its members stay together.
    private func settleAnew(_ claim: Store.Claim) throws(Problem) {
        let job = claim.job
        if job.isManual {
            // Nobody watches for it: a person asked for it, and a person is told.
            let problem = Problem(
                .sourceChanged, "\(SafeText.of(job.files[0].path)) changed while it was imported.",
                todo: "Import it again once nothing writes to it any more.")
            return try end(claim, as: .vanished, problem)
        }
        try returnToWatcher(claim, saying: "A source changed while it was imported; it settles anew.")
    }

    private func returnToWatcher(_ claim: Store.Claim, saying sentence: String) throws(Problem) {
        let job = claim.job
        try rooms.store.returnToCandidate(claim)
        for file in job.files { signals.sourceChanged(file.path) }
        rooms.log(LogLine(.info, sentence, [("JOB_ID", String(job.id))] + path(of: job)))
    }

    private func waitForSource(
        _ claim: Store.Claim, plan: ImportPlan, filesystem: FilesystemID
    ) throws(Problem) {
        let problem = Problem(
            .sourceIO, "The card or share that \(SafeText.of(claim.job.files[0].path)) was found on is not there.",
            todo: "Insert the card or mount the share again; the photo is then imported by itself.")
        try rooms.store.postpone(claim, problem: problem, notBefore: rooms.now() + AwayDrops.gap)
        tell(claim.job, .queued, problem: problem)
        let file = claim.job.files.first { $0.filesystem == filesystem } ?? claim.job.files[0]
        if away.add(.init(drop: claim.job.drop, root: plan.root, filesystem: filesystem), file) {
            rooms.log(
                LogLine(
                    .warning, "A card or share is away; its queued photos wait for it.", [("DROP", claim.job.drop)]))
        }
    }

    // MARK: Room

    /// Why photos wait for room in the library although others are imported; nil when none does.
    package var shortage: Problem? { crowded.problem }

    /// Lets photos go on for which there is room now.
    func lookForRoom() {
        let waiting = crowded.all
        guard !waiting.isEmpty, let library = keeper.library else { return }
        do throws(Problem) {
            let free = try library.freeBytes().bytes - library.settings.reserveFree.bytes
            for (id, job) in waiting {
                let isQueued = try rooms.store.job(id)?.state == .queued
                if isQueued, job.bytes > free { continue }
                crowded.remove(id)
                if isQueued { try rooms.store.hasten(drop: job.drop, waitingFor: .libraryFull) }
            }
        } catch {
            note(error)
        }
    }

    // MARK: Outages

    /// Looks whether an outage is over: only its own check ends it. The library comes first, for nothing works without.
    func probe(_ outage: Problem) {
        do throws(Problem) {
            let wasOpen = keeper.library != nil
            let library = try keeper.open(settings().library)
            // What was committing when it went away is still there to be settled.
            if !wasOpen { requireRecovery() }
            switch outage.code {
            case .libraryOffline: try library.requireWritable()
            case .libraryFull:
                guard try !library.isFull() else { return }
            case .decoderMissing:
                guard rooms.decoders.probe() else { return }
            case .stateIO: try rooms.store.set("probe", to: rooms.now().rfc3339)
            case .stateStale: try library.checkNotAhead(of: rooms.store)
            default: break  // the library was the trouble, or time alone helps
            }
        } catch {
            if error.code != outage.code { note(error) }
            return
        }
        outages.end(outage.code)
        rooms.log(LogLine(.info, "Work goes on.", [("CODE", outage.code.rawValue)]))
    }
}
