import Files
import Ingest
import PhotoModel
import Store

/// Why work on the mirror ends before all of it is done.
enum MirrorEnded: Error {
    /// The mirror cannot be used now; with the original it was about, when it was about one.
    case mirror(Problem, at: Store.ResourcePlace? = nil)
    /// The library or the state cannot be used now, which others tell of.
    case elsewhere(Problem)
    case stopping
}

/// Runs calls on the mirror; what the system says becomes a problem of it.
func onMirror<Result: ~Copyable>(
    _ path: Path, doing what: String, _ body: () throws(Errno) -> Result
) throws(MirrorEnded) -> Result {
    do throws(Errno) { return try body() } catch { throw .mirror(.library(path, error, doing: what, in: .mirror)) }
}

/// Asks the mirror something that is a problem of it when it fails.
func ofMirror<Result>(_ body: () throws(Problem) -> Result) throws(MirrorEnded) -> Result {
    do throws(Problem) { return try body() } catch { throw .mirror(error) }
}

/// Asks the state or the library.
func elsewhere<Result>(_ body: () throws(Problem) -> Result) throws(MirrorEnded) -> Result {
    do throws(Problem) { return try body() } catch { throw .elsewhere(error) }
}

extension Library {
    /// Whether it is there and takes writes, so that what failed on it has a cause of its own.
    var isWell: Bool {
        do throws(Problem) {
            try check()
            try requireWritable()
            return true
        } catch { return false }
    }
}

extension Problem {
    /// A problem of the mirror with what to do about it there.
    func onMirror(saying more: String) -> Problem {
        let goesOn = "Imports go on; sources that are to be moved or deleted wait for the mirror."
        let remedy =
            switch code {
            case .libraryOffline: "Mount or connect the mirror's disk; it catches up by itself. " + goesOn
            case .libraryFull: "Free space on the mirror's disk; mirroring then goes on by itself. " + goesOn
            case .libraryPermission:
                "Let the service's user write to the mirror; it is tried again by itself. " + goesOn
            case .libraryIO, .verifyMismatch, .staleHandle:
                "Check the mirror's disk; it is tried again by itself. " + goesOn
            default: whatToDo  // says it already, or has nothing to do with where it happened
            }
        return Problem(code, whatHappened + more, todo: remedy)
    }
}
