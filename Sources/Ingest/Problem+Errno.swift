package import Files
package import PhotoModel

/// What an errno means depends on whose disk it came from; here it gets its meaning, once.
extension Problem {
    /// Reading or looking at a source failed.
    package static func source(_ path: Path, _ errno: Errno, doing what: String = "read") -> Problem {
        let code: Code =
            switch errno {
            case .noEntry, .notDirectory: .sourceVanished
            case .accessDenied, .notPermitted, .loop, .notRegularFile: .sourcePermission
            case .stale: .staleHandle
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory: .memory
            case .busy, .wouldBlock: .sourceBusy
            default: .sourceIO
            }
        return Problem(code, "Could not \(what) \(SafeText.of(path)): \(errno.description).")
    }

    private static let notOneFilesystem =
        "Something is mounted within it, which has to be one filesystem: unmount it, or make the disk the library's own."

    /// What ext4 and others do with a disk that fails.
    static let readOnlyDisk =
        "Its filesystem is read-only, perhaps because its disk fails: look into the kernel's log (`journalctl -k`), and "
        + "mount it writable again; work then goes on by itself."

    /// Writing to or reading from the library failed, or its mirror.
    package static func library(
        _ path: Path, _ errno: Errno, doing what: String, in role: LibraryMarker.Role = .library
    ) -> Problem {
        let code: Code =
            switch errno {
            case .noSpace, .quota: .libraryFull
            case .accessDenied, .notPermitted: .libraryPermission
            case .readOnly: .libraryOffline
            case .stale: .staleHandle
            case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory: .memory
            default: .libraryIO
            }
        let place = role == .library ? "in the library" : "on the mirror"
        return Problem(
            code, "Could not \(what) \(SafeText.of(path)) \(place): \(errno.description).",
            todo: errno == .crossDevice ? notOneFilesystem : errno == .readOnly ? readOnlyDisk : nil)
    }
}

/// Runs calls on a source; what the system says becomes the end of the import.
func onSource<Result: ~Copyable>(
    _ path: Path, doing what: String, _ body: () throws(Errno) -> Result
) throws(ImportEnded) -> Result {
    do throws(Errno) { return try body() } catch { throw ImportEnded(.source(path, error, doing: what)) }
}

/// Runs calls on the library; what the system says becomes a `Problem`.
func onLibrary<Result: ~Copyable>(
    _ path: Path, doing what: String, _ body: () throws(Errno) -> Result
) throws(Problem) -> Result {
    do throws(Errno) { return try body() } catch { throw .library(path, error, doing: what) }
}

/// Runs a step whose problems end the import.
func endingImport<Result: ~Copyable>(_ body: () throws(Problem) -> Result) throws(ImportEnded) -> Result {
    do throws(Problem) { return try body() } catch { throw ImportEnded(error) }
}
