/// What the program ends with: sysexits.h where it has a word, systemctl(1)'s for `status`.
enum ExitStatus: Int32, Sendable {
    case ok = 0
    /// The thing asked for failed, or a part of it.
    case failed = 1
    /// `status`: the service is not running.
    case stopped = 3
    /// `status`: whether the service runs could not be found out.
    case unknown = 4
    case usage = 64
    case unreachable = 69
    case notPermitted = 77
    case configuration = 78
    case interrupted = 130
}
