import Files
import PhotoModel
import Service
import Synchronization

/// Knows whether the run before died of its own fault, until the jobs that it was importing have been counted.
final class Crashes: Sendable {
    private let path: Path
    private let isSuspected = Atomic<Bool>(false)

    init(stateDirectory: Path) { path = stateDirectory / StateDirectory.crashMark }

    var areSuspected: Bool { isSuspected.load(ordering: .acquiring) }

    /// Looks for the mark of the run before, and leaves one if this run dies. On the main thread.
    func arm(log: Log) {
        do throws(Errno) {
            let mark = try CrashMark(at: path)
            try mark.arm()
            guard let signal = mark.lastSignal else { return }
            isSuspected.store(true, ordering: .releasing)
            log(
                LogLine(
                    .error, "The run before ended by a fault of its own; what it was importing now runs alone.",
                    [("SIGNAL", String(signal))]))
        } catch {
            log(LogLine(.warning, "Crashes cannot be remembered across restarts.", [("ERRNO", error.name)]))
        }
    }

    func areCounted(log: Log) {
        isSuspected.store(false, ordering: .releasing)
        do throws(Errno) {
            try CrashMark(at: path).clear()
        } catch {
            log(LogLine(.warning, "The crash mark could not be cleared.", [("ERRNO", error.name)]))
        }
    }
}
