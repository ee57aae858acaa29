import ControlAPI
import Files
import HTTP
package import PhotoModel
import Synchronization

/// Tells whoever follows along what happens, and keeps the last of it for those who were away for a moment.
///
/// Publishing never waits for a follower: one that does not keep up loses its stream and may come back for the rest.
package final class EventHub: Sendable {
    /// How often at most the same job's progress, or the same batch, is told.
    static let interval = Duration.milliseconds(200)

    struct Limits: Sendable {
        var kept = 2048
        var followersPerUser = 16
        /// Bytes that may wait for one follower.
        var waiting = 256 << 10
    }

    private struct Frame {
        var id: UInt64
        var text: [UInt8]
    }

    private struct Follower {
        var stream: ByteStream
        var user: UInt32?
    }

    private struct State {
        var lastID: UInt64
        var ring: [Frame] = []
        /// Where the oldest frame stands in `ring` once it is full.
        var oldest = 0
        var followers: [ObjectIdentifier: Follower] = [:]
        var progress: [Job.ID: (phase: JobState, told: ContinuousClock.Instant)] = [:]
        var batches: [Batch.ID: ContinuousClock.Instant] = [:]
        var isEnded = false
    }

    private struct Lookups {
        var batch: @Sendable (Batch.ID) -> Batch? = { _ in nil }
        var reasons: @Sendable () -> [Problem] = { [] }
    }

    private let limits: Limits
    private let state: Mutex<State>
    private let lookups = Mutex(Lookups())

    package convenience init() {
        self.init(limits: Limits(), now: UInt64(max(0, SystemClock.now().nanoseconds / 1_000_000)))
    }

    /// - Parameter now: milliseconds since 1970: where the ids of this run begin, so that they also grow from one run of
    ///   the daemon to the next, and an id of an earlier run is known to be one. Below 2^53, which JavaScript counts to.
    init(limits: Limits, now: UInt64) {
        self.limits = limits
        state = Mutex(State(lastID: now << 10))
    }

    /// Where to look up what an event only names.
    func lookUp(
        batch: @escaping @Sendable (Batch.ID) -> Batch?, reasons: @escaping @Sendable () -> [Problem]
    ) {
        lookups.withLock { $0 = Lookups(batch: batch, reasons: reasons) }
    }

    /// Any thread that may wait for a database read; cheap enough for a copy loop's every megabyte.
    package func publish(_ event: SpoolEvent) {
        switch event {
        case .job(let id, let batch, let drop, let state, let problem, let asset):
            if state.isTerminal { self.state.withLock { $0.progress[id] = nil } }
            tell(
                .job(JobEventBody(id: id, batch: batch, drop: drop, state: state, problem: problem, asset: asset)))
            if state.isTerminal { publish(.batch(id: batch)) }
        case .progress(let flight):
            if isDue(flight) { tell(.progress(ImportingBody(flight))) }
        case .batch(let id):
            let look = lookups.withLock { $0.batch }
            guard let batch = look(id), isDue(batch) else { return }
            tell(.batch(BatchBody(batch)))
        case .state(let state):
            let reasons = lookups.withLock { $0.reasons }
            tell(.state(StateBody(state: state, reasons: reasons())))
        }
    }

    /// The first word of each phase, the last byte, and between them five times a second.
    private func isDue(_ flight: InFlightImport) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            if let last = state.progress[flight.job], last.phase == flight.phase,
                last.told.duration(to: now) < Self.interval, flight.bytesDone < flight.bytesTotal
            {
                return false
            }
            state.progress[flight.job] = (flight.phase, now)
            return true
        }
    }

    private func isDue(_ batch: Batch) -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            let isDone = batch.done >= batch.total
            if let told = state.batches[batch.id], told.duration(to: now) < Self.interval, !isDone { return false }
            state.batches[batch.id] = isDone ? nil : now
            return true
        }
    }

    private func tell(_ event: EventBody) {
        let data: [UInt8]
        do {
            data = try event.data()
        } catch {
            return  // no JSON form, which none of these shapes can come to
        }
        let (name, end) = (Array("event: \(event.name)\ndata: ".utf8), Array("\n\n".utf8))
        // Under the lock, so that every follower sees the same order; no stream ever waits.
        state.withLock { state in
            guard !state.isEnded else { return }
            state.lastID += 1
            let text = Array("id: \(state.lastID)\n".utf8) + name + data + end
            let frame = Frame(id: state.lastID, text: text)
            if state.ring.count < limits.kept {
                state.ring.append(frame)
            } else {
                state.ring[state.oldest] = frame
                state.oldest = (state.oldest + 1) % limits.kept
            }
            for (key, follower) in state.followers where !follower.stream.send(text) { state.followers[key] = nil }
        }
    }

    /// A new follower's stream: what it missed since `last`, then everything as it happens.
    /// - Returns: nil when the user has too many.
    func subscribe(after last: UInt64?, user: UInt32?) -> ByteStream? {
        let stream = ByteStream(limit: limits.waiting, heartbeat: Array(": still here\n\n".utf8))
        let isTaken = state.withLock { state in
            for (key, follower) in state.followers where !follower.stream.isOpen { state.followers[key] = nil }
            let own = state.followers.values.count { $0.user == user }
            guard own < limits.followersPerUser else { return false }
            stream.send(Array(": photospool\nretry: 2000\n\n".utf8))
            if let last {
                for text in Self.missed(since: last, in: state, atMost: limits.waiting / 2) { stream.send(text) }
            }
            if state.isEnded {
                stream.end()
            } else {
                state.followers[ObjectIdentifier(stream)] = Follower(stream: stream, user: user)
            }
            return true
        }
        return isTaken ? stream : nil
    }

    /// What was told after `last`, or that nobody can say: too long ago, of another run, or more than a follower who
    /// has yet to read the first byte can be given at once.
    private static func missed(since last: UInt64, in state: State, atMost room: Int) -> [[UInt8]] {
        let frames = state.ring[state.oldest...] + state.ring[..<state.oldest]
        let oldest = frames.first?.id ?? state.lastID + 1
        if last < state.lastID + 1, last &+ 1 >= oldest {
            let missed = frames.filter { $0.id > last }.map(\.text)
            if missed.reduce(0, { $0 + $1.count }) <= room { return missed }
        }
        return [Array("id: \(state.lastID)\nevent: reset\ndata: {}\n\n".utf8)]
    }

    /// The daemon stops: what was told still arrives, then the streams end.
    func end() {
        state.withLock { state in
            state.isEnded = true
            for follower in state.followers.values { follower.stream.end() }
            state.followers = [:]
        }
    }

    var followerCount: Int { state.withLock { $0.followers.values.count { $0.stream.isOpen } } }
}
