import Files
import Glibc
import PhotoModel

/// A watcher's thread: waits for events, orders and times, and lets each of its drop folders act on them.
///
/// A turn drains the kernel's queue before anything else and gives every other work a slice only, so that neither a scan
/// of a million files nor a wave of arrivals keeps an event, or a file that has just settled, waiting.
final class WatchLoop {
    /// Set for the one that deals out the drop folders.
    var lanes: Lanes?
    var selfTest: SelfTest?
    private let lane: Lane
    private let context: WatchContext
    private let mounts = MountNews()
    private var drops: [DropWatch] = []
    private var hasMountNews = false
    private var isStopping = false
    private var lastOverflow = Moment(nanoseconds: 0)
    private var overflows = 0

    init(lane: Lane, door: Watcher.Door, tuning: WatchTuning) {
        self.lane = lane
        context = WatchContext(door: door, tuning: tuning)
    }

    func run(_ settings: [DropFolder]) {
        drops = settings.map { DropWatch($0, in: context) }
        while true {
            lane.markTurn()
            takeOrders()
            if isStopping { break }
            turn()
            // A share may have held it up for long.
            if lane.isStopping { break }
            if lane.publish(drops.map(\.health)) { context.door.changed() }
            if let lanes {
                lanes.noticeSilence(at: .now)
                if lanes.lacksThread { replace() }
            }
            if context.tuning.isOnce, isDone { break }
            wait()
        }
        for drop in drops { drop.close() }
    }

    private func turn() {
        drainEvents()
        takeMountNews()
        testHearing()
        for drop in drops { drop.keepTime(at: .now) }
        settleDue()
        if lane.isStopping { return }
        if context.outbox.deliver(to: context.door, at: .now, by: context.tuning) { context.lastProgress = .now }
        for drop in drops where drop.hasScanWork { drop.scan(until: .now + context.tuning.slice) }
        for drop in drops { drop.letGo() }
    }

    // MARK: Orders

    private func takeOrders() {
        lane.bell?.hush()
        for order in lane.takeOrders() {
            switch order {
            case .stop: isStopping = true
            case .rescan(let name):
                for drop in drops where name == nil || drop.settings.name == name {
                    drop.trustEvents()
                    drop.hasFinishedFirstScan = false
                    drop.lookForRoot(at: .now)
                    drop.startFullScan(at: .now)
                }
            case .assign: replace()
            case .recheck(let path): recheck(path)
            }
        }
    }

    private func replace() {
        guard let wanted = lanes?.assign() else { return }
        let old = drops
        drops = wanted.map { wanted in
            old.first { $0.settings == wanted } ?? DropWatch(wanted, in: context)
        }
        for drop in old where !drops.contains(where: { $0 === drop }) { drop.close() }
    }

    private func recheck(_ path: Path) {
        for drop in drops {
            guard let relative = path.below(drop.settings.path), let root = drop.root else { continue }
            // The folder is gone, or found by the next scan with all that is in it.
            guard let node = root.descendant(relative.parent) else { continue }
            drop.recheck(relative.name, in: node, at: .now)
            return
        }
    }

    // MARK: Events

    private func drainEvents() {
        context.isDrained = true
        guard let inotify = context.inotify else { return }
        var arrivals: [DropWatch.Arrival] = []
        var hasOverflown = false
        context.isDrained = false
        // Bounded, so that a flood of events cannot keep files from settling.
        for _ in 0..<64 {
            let events: [Inotify.Event]
            do throws(Errno) { events = try inotify.read() } catch {
                // Cannot happen to a descriptor of ours; if it does, nothing read from it can be trusted.
                context.door.log(LogLine(.error, "Events could not be read: \(error)."))
                hasOverflown = true
                break
            }
            if events.isEmpty {
                context.isDrained = true
                break
            }
            for event in events {
                if event.isOverflow {
                    hasOverflown = true
                } else if let node = context.watched[event.watch] {
                    if let loses = context.tuning.loses, loses(node.drop.absolute(node)) { continue }
                    node.drop.handle(event, in: node, at: .now, arrivals: &arrivals)
                } else if context.tuning.loses?(nil) != true, selfTest?.hear(event, at: .now) == .hears {
                    hearAgain()
                }
            }
        }
        look(at: arrivals)
        if hasOverflown { rescanAfterOverflow() }
    }

    /// Folder by folder as they came, so that each is opened once.
    private func look(at arrivals: [DropWatch.Arrival]) {
        var rest = arrivals[...]
        while let first = rest.first {
            let run = rest.prefix { $0.node.drop === first.node.drop }
            first.node.drop.look(at: run, now: .now)
            rest = rest[run.endIndex...]
        }
    }

    private func rescanAfterOverflow() {
        overflows += 1
        context.noteLoss()
        selfTest?.noteLoss(at: .now)
        let now = Moment.now
        // A flood brings one overflow after another: one line a minute tells it as well.
        if overflows == 1 || now - lastOverflow > .seconds(60) {
            context.door.log(
                LogLine(
                    .warning,
                    "Events were lost because the kernel's queue was full; the drop folders are scanned again.",
                    [("OVERFLOWS", String(overflows))]))
            lastOverflow = now
        }
        for drop in drops where drop.watches > 0 {
            drop.rescans += 1
            drop.startFullScan(at: now)
        }
    }

    // MARK: Hearing

    /// Tests that events arrive at all.
    private func testHearing() {
        guard let selfTest, let inotify = context.openInotify() else { return }
        guard selfTest.keepTime(at: .now, isDrained: context.isDrained, on: inotify) == .deaf else { return }
        context.isDeaf = true
        for drop in drops { drop.pollEverything() }
    }

    private func hearAgain() {
        context.isDeaf = false
        context.door.log(LogLine(.info, "Events arrive again; folders are watched."))
        for drop in drops { drop.startFullScan(at: .now) }
    }

    // MARK: Mounts

    private func takeMountNews() {
        guard hasMountNews, let mounts else { return }
        hasMountNews = false
        let changed = mounts.changes()
        if let changed, changed.isEmpty { return }
        if lanes != nil { replace() }
        for drop in drops {
            drop.lookForRoot(at: .now)
            guard let changed else {
                drop.startFullScan(at: .now)
                continue
            }
            // The same device may carry another card by now.
            for point in changed { drop.forgetMount(at: point) }
            let isAffected = changed.contains { $0 == drop.realPath || $0.below(drop.realPath) != nil }
            if isAffected { drop.startFullScan(at: .now) }
        }
    }

    // MARK: Settling

    /// For a slice, or until there is enough for one transaction. While the queue takes nothing, what is due stays where
    /// it is.
    private func settleDue() {
        let end = Moment.now + context.tuning.slice
        while !context.outbox.isFailing, context.outbox.groups.count < context.tuning.batch {
            let now = Moment.now
            guard now < end, let shot = context.deadlines.heap.popDue(at: now) else { return }
            shot.folder.drop.settle(shot, at: now)
        }
    }

    // MARK: Waiting

    private func wait() {
        let now = Moment.now
        var until = now + context.tuning.longestWait
        if context.outbox.isFailing {
            until = min(until, context.outbox.nextTry)
        } else if let next = context.deadlines.heap.next {
            until = min(until, next)
        }
        if let selfTest, context.inotify != nil { until = min(until, selfTest.nextTime) }
        for drop in drops {
            until = min(until, drop.nextTime)
            if drop.hasScanWork, !context.isScanningAhead { until = now }
        }
        if lane.bell == nil { until = min(until, now + .seconds(1)) }
        let (seconds, attoseconds) = max(.zero, until - now).components
        // Rounded up: a millisecond early would be a turn for nothing.
        let milliseconds = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000

        var sources = [
            pollfd(fd: context.inotify?.descriptor.rawValue ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: lane.bell?.descriptor.rawValue ?? -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: mounts?.descriptor ?? -1, events: Int16(POLLPRI), revents: 0),
        ]
        // EINTR is a turn early, and nothing else can go wrong with three descriptors of ours.
        _ = unsafe poll(&sources, nfds_t(sources.count), Int32(milliseconds))
        if sources[2].revents != 0 { hasMountNews = true }
    }

    /// Whether a `once` life has nothing left that can settle.
    private var isDone: Bool {
        if Moment.now - context.lastProgress > context.tuning.oncePatience { return true }
        return context.outbox.isEmpty
            && drops.allSatisfy { $0.root == nil || ($0.hasFinishedFirstScan && !$0.hasScanWork && $0.candidates == 0) }
    }
}

extension DropWatch {
    /// Lets a file settle anew that may be known.
    func recheck(_ name: Path, in node: FolderNode, at now: Moment) {
        do throws(Errno) {
            let status = try NameStatus(of: name, in: open(node).folder)
            guard status.kind == .regular, !ignoring.ignores(name, in: node.path, isFolder: false) else { return }
            notice(name, in: node, status.stamp, by: .order, at: now)
        } catch .noEntry {
            // Gone: nothing is left to settle.
        } catch {
            fail(node, error)
        }
    }
}
