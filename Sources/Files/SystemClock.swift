import Glibc
package import PhotoModel

/// The machine's clocks. Rules take times as values; only the rooms that act ask here.
package enum SystemClock {
    /// The time of day; it can jump. CLOCK_REALTIME.
    package static func now() -> Timestamp {
        let time = read(CLOCK_REALTIME)
        return Timestamp(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Since some moment before; it never jumps and does not run while the machine sleeps. CLOCK_MONOTONIC.
    package static func monotonic() -> Duration {
        let time = read(CLOCK_MONOTONIC)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }

    /// What the wall clock of the machine's time zone shows at that time.
    package static func localWallTime(at time: Timestamp) -> WallTime {
        let seconds = Self.seconds(of: time)
        return WallTime(secondsSince1970: seconds + Int64(localOffset(at: time)))
    }

    /// Seconds east of UTC in the machine's time zone at that time; 0 when localtime_r(3) cannot say.
    package static func localOffset(at time: Timestamp) -> Int {
        var seconds = time_t(Self.seconds(of: time))
        var local = unsafe tm()
        guard unsafe localtime_r(&seconds, &local) != nil else { return 0 }  // a year beyond what tm can hold
        return unsafe local.tm_gmtoff
    }

    private static func seconds(of time: Timestamp) -> Int64 {
        let (quotient, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return rest < 0 ? quotient - 1 : quotient
    }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        let code = unsafe clock_gettime(clock, &time)
        precondition(code == 0, "both clocks exist on every Linux")
        return time
    }
}
