import Control
import Files
import Ingest
import PhotoModel
import Preview
import Service
import Store
import Upkeep
import Watch
import Workers

extension Daemon {
    /// Runs from start to stop; returns the exit code.
    func run() async -> Int32 {
        crashes.arm(log: journal.log)
        let control: ControlRoom?
        do throws(Problem) {
            control = try ControlRoom(daemon: self)
        } catch {
            // Without its socket nobody could ask it anything; with --once nobody needs to.
            journal.add(LogLine(isOnce ? .warning : .error, error))
            if error.code == .config { return ExitCode.configuration }
            guard isOnce else { return ExitCode.tryAgain }
            control = nil
        }
        let orders = listenForOrders()
        let isOpen = await servicePool.run { self.openLibrary() }
        if isOnce, !isOpen {
            control?.stop()
            return ExitCode.tryAgain
        }
        phase.started()
        manager.ready(status: "Looking at the drop folders")
        hub.publish(.state(state))
        journal.add(LogLine(.info, "photospoold is ready.", [("VERSION", Release.version)]))

        let watchThread = DaemonThread(named: "watch") {
            self.watcher.run()
            self.phase.watcherEnded()
            self.room.wake()
        }
        // --once imports and goes home.
        let upkeepThread = isOnce ? nil : DaemonThread(named: "upkeep") { self.upkeep.run() }
        let mirrorThread = DaemonThread(named: "mirror") { self.mirror.run() }
        let watchdog = startWatchdog()
        await withTaskGroup { group in
            group.addTask { await self.room.run(width: self.importPool.width) }
            group.addTask { await self.report() }
            group.addTask { for await order in orders { await self.follow(order) } }
            await group.next()  // only the room ends by itself: stopped, or drained
            self.phase.stop()
            group.cancelAll()
        }
        let code = isOnce ? await servicePool.run { self.endOnce() } : ExitCode.ok
        watcher.stop()
        watchThread.join()
        upkeep.stop()
        mirror.stop()
        if let upkeepThread {
            await leave(upkeepThread, saying: "An operation does not answer; it goes on at the next start.") {
                self.upkeep.hasEnded
            }
        }
        await leave(mirrorThread, saying: "The mirror does not answer; its work is left as it is.") {
            self.mirror.hasEnded
        }
        watchdog?.stop()
        // First, so that nobody waits for a picture any more.
        pictures.stop()
        control?.stop()
        decoders.stop()
        keeper.close()
        journal.add(LogLine(.info, "photospoold has stopped."))
        journal.flush()
        return code
    }

    /// A mirror on a share that does not answer is no reason not to end, whoever asked it. What was left is taken up as after
    /// a death.
    private func leave(
        _ thread: consuming DaemonThread, saying text: String, hasEnded: @Sendable () -> Bool
    ) async {
        for _ in 0..<100 where !hasEnded() {
            // Cancelled or not: the end comes all the same.
            try? await Task.sleep(for: .milliseconds(50))
        }
        if hasEnded() {
            thread.join()
        } else {
            journal.add(LogLine(.warning, text))
        }
    }

    // MARK: Starting

    /// Opens the library and settles what the run before left. When the library is away both wait: nothing is removed.
    private func openLibrary() -> Bool {
        do throws(Problem) {
            let library = try keeper.open(live.current.library)
            let patience = Patience(manager)
            try room.settle(in: library) { patience.progress() }
            return true
        } catch {
            outages.begin(error)
            journal.add(LogLine(.error, error))
            return false
        }
    }

    private func startWatchdog() -> Watchdog? {
        guard let interval = ServiceManager.watchdogInterval else { return nil }
        let loops = Liveness(
            [
                .init("watcher") { self.phase.isWatcherDone ? nil : self.watcher.progressMark },
                .init("imports") { self.room.progressMark },
            ], patience: .seconds(20))
        // Twice the deadline of a preview, for a second decoder may be tried, and a minute for a slow disk.
        let imports = Liveness(
            [.init("import") { self.inFlight.progressMark }],
            patience: live.current.importing.deadline * 2 + .seconds(60))
        return Watchdog(interval: interval, manager: manager) {
            let stuck = loops.stuck() + imports.stuck()
            if !stuck.isEmpty {
                self.journal.add(
                    LogLine(.error, "A part of the daemon stands still.", [("PART", stuck.joined(separator: ","))]))
            }
            return stuck.isEmpty
        }
    }

    // MARK: Running

    /// Keeps the service manager's status line and the event stream true, once a second.
    private func report() async {
        var last: DaemonState?
        while !Task.isCancelled {
            await servicePool.run {
                self.openDrops.look(at: self.live.current.drops, but: self.watcher.silentDrops)
                self.journal.sumUp()
                self.memory.set(pressure: .init(stalled: MachineMemory.stalled))
                self.dailyBackup.look(at: SystemClock.now())
                self.mirror.wake()
                // What it orders is done by a thread that does not run with --once.
                if !self.isOnce { self.previewKeeper.look(at: SystemClock.now()) }
                // Here too, since a manager that reads nothing keeps its writers waiting.
                if let line = self.statusLine() { self.manager.status(line) }
            }
            let now = state
            if now != last { hub.publish(.state(now)) }
            last = now
            do {
                try await Task.sleep(for: .seconds(1))
            } catch {
                return  // cancelled: stopping
            }
        }
    }

    private func statusLine() -> String? {
        do throws(Problem) {
            let now = SystemClock.now()
            return StatusLine.text(
                state: state, reasons: reasons + (mirror.status?.reasons ?? []), counts: try store.counts(at: now),
                batch: try store.currentBatch(at: now),
                inFlight: inFlight.imports, settling: watcher.health.reduce(0) { $0 + $1.candidates })
        } catch {
            return "\(error.code.rawValue): \(error.whatHappened)"
        }
    }

    // MARK: Stopping

    private func listenForOrders() -> AsyncStream<SignalRoom.Order> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SignalRoom.Order.self, bufferingPolicy: .bufferingNewest(16))
        SignalRoom.listen { order in
            // At once, from the signal's own thread: a stop does not wait behind a reload.
            if case .stop = order { self.beginStopping() }
            continuation.yield(order)
        }
        return stream
    }

    private func follow(_ order: SignalRoom.Order) async {
        guard case .reload = order else { return }
        _ = await servicePool.run { self.reload() }
    }

    /// Imports in flight roll back and are given back, but for those that are committing.
    func beginStopping() {
        phase.stop()
        manager.stopping(status: "Stopping")
        hub.publish(.state(.stopping))
        inFlight.stopAll()
        upkeep.stop()
        mirror.stop()
        watcher.stop()
        room.wake()
    }

    private func endOnce() -> Int32 {
        // What the journal says of sources since; returns at once where somebody wants an end.
        mirror.finish()
        return onceExitCode()
    }

    /// What `--once` has to say at the end; the first that holds.
    private func onceExitCode() -> Int32 {
        do throws(Problem) {
            if !outages.reasons.isEmpty { return ExitCode.tryAgain }
            if try store.failures(since: startTime) > 0 { return ExitCode.failed }
            let counts = try store.counts(at: SystemClock.now())
            let waiting =
                phase.hasLeftSomething || mirror.isBehind
                || watcher.health.contains { $0.candidates > 0 || $0.health == .waiting || $0.isSilent }
            return counts.queued + counts.importing > 0 || waiting ? ExitCode.tryAgain : ExitCode.ok
        } catch {
            journal.add(LogLine(.error, error))
            return ExitCode.tryAgain
        }
    }
}
