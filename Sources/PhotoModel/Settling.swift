/// A reading of the monotonic clock, in nanoseconds; see CLOCK_BOOTTIME in clock_gettime(2).
package struct Moment: Hashable, Sendable, Comparable {
    package var nanoseconds: Int64
    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    package static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }
    package static func - (left: Moment, right: Moment) -> Duration {
        .nanoseconds(left.nanoseconds - right.nanoseconds)
    }
    package static func + (moment: Moment, duration: Duration) -> Moment {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflows else { return Moment(nanoseconds: .max) }
        let sum = moment.nanoseconds.addingReportingOverflow(nanoseconds + attoseconds / 1_000_000_000)
        return Moment(nanoseconds: sum.overflow ? .max : sum.partialValue)
    }
}

/// Whether a file has completely arrived: unchanged for the settle time, and nobody has it open for writing as far as
/// that can be known.
///
/// Knows neither clock nor file: whoever looks says what was seen and when. It never gives up: a file that is written to
/// for days settles once it is left alone.
package struct Settling: Hashable, Sendable {
    package struct Rules: Hashable, Sendable {
        package var settle: Duration
        /// In place of a shorter ``settle`` where nobody can say whether the file is still open for writing.
        package var unknownSettle = Duration.seconds(10)
        /// How long a file may hold no bytes before it counts as arrived like that.
        package var emptyWait = Duration.seconds(30)
        /// The longest gap between two looks at a file that stays open.
        package var longestGap = Duration.seconds(30)
        /// The longest quiet that is asked of a file for having lain still before it went on.
        package var longestQuiet = Duration.seconds(60)

        package init(settle: Duration) { self.settle = settle }
    }

    /// Whether somebody has the file open for writing.
    package enum Writer: Sendable { case none, present, unknown }

    package enum Outcome: Hashable, Sendable {
        case wait(until: Moment)
        case settled
        /// Settled without a byte in it.
        case empty
    }

    package private(set) var stamp: FileStamp
    /// When it was last seen to change, to be closed or to be moved in.
    package private(set) var quietSince: Moment
    private var busyLooks: UInt8 = 0
    private var wasClosed = false
    /// When it was last seen unchanged, after ``quietSince``.
    private var stillAt: Moment?
    /// The longest it is known to have lain still before it went on. A device that closes a file between portions, or a
    /// transfer that stalls, does it again: so twice that long is the least it has to be quiet.
    private var stall = Duration.zero

    package init(_ stamp: FileStamp, at now: Moment) {
        self.stamp = stamp
        quietSince = now
    }

    private mutating func goOn(_ stamp: FileStamp, at now: Moment, stillUntil: Moment?) {
        // Before its first byte a file has not stalled.
        if let stillUntil, self.stamp.size > 0 { stall = max(stall, stillUntil - quietSince) }
        self.stamp = stamp
        quietSince = now
        busyLooks = 0
        stillAt = nil
    }

    /// An event or a listing showed the file again.
    ///
    /// - Parameter wasWritten: Whether a writer closed it or it was moved in, which restarts the wait by itself.
    package mutating func notice(_ stamp: FileStamp, wasWritten: Bool, at now: Moment) {
        guard wasWritten || stamp != self.stamp else { return }
        goOn(stamp, at: now, stillUntil: wasWritten && wasClosed ? now : stillAt)
        if wasWritten { wasClosed = true }
    }

    /// Somebody looked closely because the wait may be over.
    package mutating func look(_ stamp: FileStamp, writer: Writer, at now: Moment, by rules: Rules) -> Outcome {
        let least = writer == .unknown ? max(rules.settle, rules.unknownSettle) : rules.settle
        if stamp != self.stamp {
            goOn(stamp, at: now, stillUntil: stillAt)
            return .wait(until: now + max(least, min(stall * 2, rules.longestQuiet)))
        }
        let settle = max(least, min(stall * 2, rules.longestQuiet))
        if writer == .present {
            quietSince = now
            let gap = rules.settle * (1 << Int(min(busyLooks, 10)))
            if busyLooks < .max { busyLooks += 1 }
            return .wait(until: now + max(rules.settle, min(gap, rules.longestGap)))
        }
        busyLooks = 0
        stillAt = now
        let isEmpty = stamp.size == 0
        let end = quietSince + (isEmpty ? max(settle, rules.emptyWait) : settle)
        if now < end { return .wait(until: end) }
        return isEmpty ? .empty : .settled
    }
}
