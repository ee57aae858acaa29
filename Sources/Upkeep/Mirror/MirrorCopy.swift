import Files
import Ingest
import PhotoModel
import Store

/// One original from the library to the mirror, by the way of an import: hashed while it is copied into staging, durable,
/// read back past the page cache, equal to what the catalog says, and under its name, which was free.
struct MirrorCopy {
    let library: Library
    let mirror: Library
    let isStopping: () -> Bool

    enum Outcome {
        /// The mirror holds it, under a name that is durable once its folder is.
        case there
        /// It cannot be had until somebody sees to it; the others can.
        case refused(Problem)
        /// It needs more room than there is; smaller ones do not.
        case doesNotFit(Problem)
    }

    /// One at a time.
    private static let staged = LibraryLayout.staging / "original"

    func run(_ resource: Resource) throws(MirrorEnded) -> Outcome {
        if isStopping() { throw .stopping }
        if let outcome = try standing(resource) { return outcome }
        let source: Descriptor
        do throws(Errno) { source = try library.root.openForReading(resource.path) } catch {
            return try unreadable(resource, error)
        }
        if let outcome = try lackOfRoom(for: resource) { return outcome }
        return try copy(source, of: resource)
    }

    private func lackOfRoom(for resource: Resource) throws(MirrorEnded) -> Outcome? {
        do throws(Problem) {
            try mirror.requireRoom(for: resource.size)
            return nil
        } catch {
            let isFull = try ofMirror { () throws(Problem) in try mirror.isFull() }
            guard error.code == .libraryFull, !isFull else { throw .mirror(error) }
            return .doesNotFit(
                Problem(
                    .libraryFull, "\(error.whatHappened) It is for \(SafeText.of(resource.path)).",
                    todo: "Free space on the mirror's disk; it is then mirrored by itself. Smaller ones go on."))
        }
    }

    // MARK: What stands there

    /// A file that has the name already: ours, when it holds these bytes (of a life that ended before it could say so, or put
    /// there by somebody), else somebody's, and left alone.
    /// - Returns: nil when the name is free.
    private func standing(_ resource: Resource) throws(MirrorEnded) -> Outcome? {
        let status: FileStatus
        do throws(Errno) { status = try mirror.root.status(of: resource.path) } catch {
            switch error {
            case .noEntry: return nil
            case .notDirectory, .loop: return .refused(taken(resource))
            default: return try refusedOrEnded(resource, error, doing: "look at")
            }
        }
        guard status.kind == .regular, status.stamp.size == resource.size else { return .refused(taken(resource)) }
        do throws(CopyFailure) {
            let file: Descriptor
            do throws(Errno) { file = try mirror.root.openForReading(resource.path) } catch {
                throw .destination(error)
            }
            // Whoever put it there may not have seen to it.
            do throws(Errno) { try file.synchronize() } catch { throw CopyFailure.destination(error) }
            let content = try readBack(file, isCancelled: isStopping)
            return content.sha256 == resource.sha256 ? .there : .refused(taken(resource))
        } catch {
            switch error {
            case .cancelled: throw .stopping
            case .source(let errno), .destination(let errno):
                return try refusedOrEnded(resource, errno, doing: "read")
            }
        }
    }

    private func taken(_ resource: Resource) -> Problem {
        Problem(
            .conflict,
            "\(SafeText.of(mirror.path / resource.path)) is another file than the original of that name; it was left alone.",
            todo: "Move it away; the original is mirrored within the hour, or at once after `photospool reload`.")
    }

    // MARK: The library's side

    /// - Throws: when it is the library as a whole that cannot be read.
    private func unreadable(_ resource: Resource, _ errno: Errno) throws(MirrorEnded) -> Outcome {
        try elsewhere { () throws(Problem) in try library.check() }
        switch errno {
        case .noEntry, .notDirectory, .loop, .notRegularFile:
            return .refused(damaged(resource, "is not there any more"))
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory:
            throw .elsewhere(.library(resource.path, errno, doing: "read"))
        default:
            return .refused(
                Problem(
                    .libraryIO,
                    "Could not read \(SafeText.of(resource.path)) in the library for the mirror: \(errno.description).",
                    todo: "Check the library's disk and run `photospool verify`; it is tried again every hour."))
        }
    }

    /// What is damaged stays where it is, and is not spread.
    private func damaged(_ resource: Resource, _ what: String) -> Problem {
        Problem(
            .verifyMismatch,
            "\(SafeText.of(resource.path)) of the library \(what), and was not mirrored.",
            todo: "Run `photospool verify`, and put the original back from a backup or from its source.")
    }

    // MARK: Copying

    private func copy(_ source: borrowing Descriptor, of resource: Resource) throws(MirrorEnded) -> Outcome {
        var isNamed = false
        defer { if !isNamed { discard() } }
        discard()
        let content: Content
        do throws(CopyFailure) {
            content = try write(source, of: resource)
        } catch {
            switch error {
            case .cancelled: throw .stopping
            case .source(let errno): return try unreadable(resource, errno)
            case .destination(let errno): return try refusedOrEnded(resource, errno, doing: "write", inStaging: true)
            }
        }
        guard content.sha256 == resource.sha256 else {
            return .refused(damaged(resource, "no longer holds the bytes that were imported"))
        }
        try compareBack(content, resource)
        try ofMirror { () throws(Problem) in try mirror.check() }
        do throws(Errno) {
            if !resource.path.parent.isEmpty {
                try mirror.root.makeFolders(
                    at: resource.path.parent, mode: mirror.folderMode, gid: mirror.groupID)
            }
            try mirror.root.renameNoReplace(Self.staged, to: resource.path, in: mirror.root)
            isNamed = true
            return .there
        } catch {
            if error == .exists { return .refused(taken(resource)) }
            return try refusedOrEnded(resource, error, doing: "name")
        }
    }

    /// Any failure to make it durable ends this copy: a second try of the same would say nothing.
    private func write(_ source: borrowing Descriptor, of resource: Resource) throws(CopyFailure) -> Content {
        let file: StagedFile
        do throws(Errno) {
            file = try mirror.root.create(Self.staged, mode: mirror.fileMode, gid: mirror.groupID)
        } catch { throw .destination(error) }
        let content = try Files.copy(from: source, to: file, size: resource.size, isCancelled: isStopping)
        do throws(Errno) { try file.makeDurable() } catch { throw .destination(error) }
        return content
    }

    private func compareBack(_ content: Content, _ resource: Resource) throws(MirrorEnded) {
        do throws(CopyFailure) {
            let file: Descriptor
            do throws(Errno) { file = try mirror.root.openForReading(Self.staged) } catch { throw .destination(error) }
            guard try readBack(file, isCancelled: isStopping) != content else { return }
        } catch {
            switch error {
            case .cancelled: throw .stopping
            case .source(let errno), .destination(let errno):
                throw .mirror(.library(resource.path, errno, doing: "read back", in: .mirror))
            }
        }
        throw .mirror(
            Problem(
                .verifyMismatch,
                "The copy of \(SafeText.of(resource.path)) read back from the mirror's disk differs from what was written."
            ))
    }

    private func discard() {
        do throws(Errno) { try mirror.root.unlink(Self.staged) } catch _ {}  // none, or the next one meets the trouble
    }

    /// Some names and sizes a filesystem cannot hold, however often one asks; and one folder may be closed to the service
    /// where the mirror as a whole is not.
    private func refusedOrEnded(
        _ resource: Resource, _ errno: Errno, doing what: String, inStaging: Bool = false
    ) throws(MirrorEnded) -> Outcome {
        let problem = Problem.library(resource.path, errno, doing: what, in: .mirror)
        switch errno {
        case .accessDenied, .notPermitted:
            guard !inStaging, mirror.isWell else { throw .mirror(problem) }
            return .refused(
                Problem(
                    problem.code, problem.whatHappened,
                    todo: "Let the service's user write there; the original is mirrored within the hour, or at once"
                        + " after `photospool reload`."))
        case .nameTooLong, .invalid, .fileTooLarge, .notDirectory, .isDirectory, .loop, .tooManyLinks:
            return .refused(
                Problem(
                    problem.code, problem.whatHappened,
                    todo: "Look whether the mirror's filesystem can hold such a file; it is tried again every hour."))
        default: throw .mirror(problem)
        }
    }
}
