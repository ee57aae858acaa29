import Files
import Ingest
import PhotoModel
import Store

/// One turn at an open mirror: takes away the marks of another one, moves to the trash what left the catalog, and copies what
/// is owed, portion by portion.
struct MirrorTurn {
    let store: Store
    let library: Library
    let mirror: Library
    let isStopping: () -> Bool
    /// Called with each original that cannot be had, and with its size where it is room that it lacks.
    let refused: (Problem, _ lacking: Int64?) -> Void
    /// Called with what cannot leave the mirror.
    let stuck: (Store.MirrorRemoval, Problem) -> Void
    /// Called when more is on the mirror, and recorded, with the assets it is of.
    let advanced: (Set<Asset.ID>) -> Void
    /// An original at which the mirror failed before: should it fail there again, the others are to go on without it.
    let stumblingBlock: Store.ResourcePlace?
    /// Up to this one, what is to leave the mirror could not; 0 for none.
    private(set) var stuckRemoval: Int64

    private static let portion = 64
    /// After so many bytes what is there is recorded, whatever the portion: a power cut then costs that much reading.
    private static let bytes: Int64 = 256 << 20
    /// Assets whose marks are taken away in one transaction.
    private static let reset = 2000

    mutating func prepare() throws(MirrorEnded) {
        while try elsewhere({ () throws(Problem) in try store.resetMirrored(limit: Self.reset) }) {
            if isStopping() { throw .stopping }
        }
        try removeWhatLeft()
    }

    mutating func catchUp() throws(MirrorEnded) {
        while true {
            let portion = try elsewhere { () throws(Problem) in try store.toMirror(limit: Self.portion) }
            if portion.isEmpty { break }
            _ = try copy(portion, isRetry: false)
            // What was deleted meanwhile makes room for what comes under its name.
            try removeWhatLeft()
        }
    }

    /// Tries again what could not be had; what fails again changes nothing for those behind it.
    func retryRefused() throws(MirrorEnded) {
        var place: Store.ResourcePlace?
        while true {
            let after = place
            let portion = try elsewhere { () throws(Problem) in
                try store.refusedByMirror(after: after, limit: Self.portion)
            }
            if portion.isEmpty { return }
            place = portion[try copy(portion, isRetry: true) - 1].place
        }
    }

    // MARK: Copies

    /// - Returns: how many of the portion were done, at least one.
    private func copy(_ portion: [Store.Placed], isRetry: Bool) throws(MirrorEnded) -> Int {
        let copy = MirrorCopy(library: library, mirror: mirror, isStopping: isStopping)
        var there: [Store.Placed] = []
        var not: [Store.Placed] = []
        var ended: MirrorEnded?
        var bytes: Int64 = 0
        for placed in portion {
            do throws(MirrorEnded) {
                switch try self.outcome(of: placed, copy, isRetry: isRetry) {
                case .there: there.append(placed)
                case .refused(let problem):
                    not.append(placed)
                    refused(problem, nil)
                case .doesNotFit(let problem):
                    not.append(placed)
                    refused(problem, placed.resource.size)
                }
            } catch {
                ended = error
                break
            }
            bytes += placed.resource.size
            if bytes > Self.bytes { break }
        }
        let folders = Set(there.map(\.resource.path.parent))
        for folder in folders where !folder.isEmpty {
            // They are there; that their own names last is not sure of those that a process before this one made.
            try onMirror(folder, doing: "make the folder") { () throws(Errno) in
                try mirror.root.makeFolders(at: folder, mode: mirror.folderMode, gid: mirror.groupID)
            }
        }
        try makeNamesDurable(folders.union(there.isEmpty ? [] : [LibraryLayout.staging]))
        let isCurrent = try elsewhere { () throws(Problem) in
            try store.recordMirrored(there, refused: not, on: mirror.id)
        }
        guard isCurrent else { throw .stopping }
        if !there.isEmpty { advanced(Set(there.map(\.place.asset))) }
        if let ended { throw ended }
        return max(1, there.count + not.count)
    }

    private func outcome(
        of placed: Store.Placed, _ copy: MirrorCopy, isRetry: Bool
    ) throws(MirrorEnded) -> MirrorCopy.Outcome {
        do throws(MirrorEnded) {
            return try copy.run(placed.resource)
        } catch {
            guard case .mirror(let problem, _) = error else { throw error }
            guard isRetry || placed.place == stumblingBlock, concernsOneFile(problem) else {
                throw .mirror(problem, at: placed.place)
            }
            return .refused(problem)
        }
    }

    /// Whether it is one file at which the mirror failed, and not the mirror as a whole.
    private func concernsOneFile(_ problem: Problem) -> Bool {
        switch problem.code {
        case .libraryIO, .libraryPermission, .verifyMismatch: return mirror.isWell
        case .libraryFull:  // beyond a quota, or of a size that it cannot hold
            do throws(Problem) { return try !mirror.isFull() } catch { return false }
        default: return false
        }
    }

    private func makeNamesDurable(_ folders: Set<Path>) throws(MirrorEnded) {
        for folder in folders {
            try onMirror(folder, doing: "make durable the folder") { () throws(Errno) in
                do throws(Errno) {
                    try folder.isEmpty ? mirror.root.sync() : mirror.root.folder(at: folder).sync()
                } catch .noEntry {}  // a folder that is gone has no names to keep
            }
        }
    }

    // MARK: Removals

    /// What left the catalog goes to the mirror's own trash, under the name it has in the library's. What cannot is passed
    /// over, and keeps only its own name from others.
    private mutating func removeWhatLeft() throws(MirrorEnded) {
        while true {
            let portion = try elsewhere { () throws(Problem) in
                try store.mirrorRemovals(after: stuckRemoval, limit: Self.portion)
            }
            if portion.isEmpty { return }
            var folders: Set<Path> = []
            var done: [Store.MirrorRemoval] = []
            var left: [(removal: Store.MirrorRemoval, problem: Problem)] = []
            try ofMirror { () throws(Problem) in try mirror.check() }
            for removal in portion {
                if isStopping() { throw .stopping }
                do throws(MirrorEnded) {
                    if let target = try move(removal) { folders.formUnion([removal.path.parent, target.parent]) }
                    done.append(removal)
                } catch {
                    guard case .mirror(let problem, _) = error, concernsOneFile(problem) else { throw error }
                    left.append((removal, problem))
                }
            }
            try makeNamesDurable(folders)
            guard try elsewhere({ () throws(Problem) in try store.forget(done, on: mirror.id) }) else {
                throw .stopping
            }
            for (removal, problem) in left {
                stuckRemoval = removal.id
                stuck(removal, problem)
            }
        }
    }

    /// - Returns: where it lies now; nil when there was nothing of ours under that name.
    private func move(_ removal: Store.MirrorRemoval) throws(MirrorEnded) -> Path? {
        guard try isOurs(removal) else { return nil }
        let place = LibraryLayout.trash(of: removal.asset) / "originals" / removal.path
        return try onMirror(removal.path, doing: "move to the trash") { () throws(Errno) in
            try mirror.root.makeFolders(at: place.parent, mode: 0o700)
            var target = place
            for number in 2...1000 {
                do throws(Errno) {
                    try mirror.root.renameNoReplace(removal.path, to: target, in: mirror.root)
                    return target
                } catch .exists {
                    // Of an earlier removal of the same asset, which somebody took back by hand.
                    target = place.parent / Path(bytes: place.name.bytes + Array("-\(number)".utf8))
                }
            }
            throw .exists
        }
    }

    /// It has to hold the asset's bytes: another file may have got the name since, also where the mirror is known to have had
    /// this one.
    private func isOurs(_ removal: Store.MirrorRemoval) throws(MirrorEnded) -> Bool {
        let status: FileStatus
        do throws(Errno) { status = try mirror.root.status(of: removal.path) } catch {
            if [.noEntry, .notDirectory, .loop].contains(error) { return false }
            throw .mirror(.library(removal.path, error, doing: "look at", in: .mirror))
        }
        guard status.kind == .regular else { return false }
        guard status.stamp.size == removal.size else { return false }
        do throws(CopyFailure) {
            let file: Descriptor
            do throws(Errno) { file = try mirror.root.openForReading(removal.path) } catch { throw .destination(error) }
            return try readBack(file, isCancelled: isStopping).sha256 == removal.sha256
        } catch {
            switch error {
            case .cancelled: throw .stopping
            case .source(let errno), .destination(let errno):
                throw .mirror(.library(removal.path, errno, doing: "read", in: .mirror))
            }
        }
    }
}
