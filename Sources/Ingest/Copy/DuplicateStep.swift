import Files
import PhotoModel
import Store

/// Decides for each file of a group whether the library holds its bytes already: its hash is in the catalog, and the file
/// the catalog names was read again, past the page cache, and is equal.
struct DuplicateStep {
    let library: Library
    let store: Store
    let attempt: Int
    let isCancelled: () -> Bool
    let log: Log
    /// The only assets that count; nil for all.
    var within: Set<Asset.ID>?

    struct Finding {
        /// Positions in the group whose bytes the library has.
        var known: Set<Int> = []
        /// The asset that the known files belong to, the leading file's first.
        var asset: Asset.ID?
    }

    /// A group is known by its photos and videos: an equal sidecar makes no two shots one. So a sidecar is known only where
    /// its own shot has it: among the assets of the group's known photos and videos, or, when it comes alone, in
    /// ``within``. When no photo or video is known, nothing is, and the shot is stored whole, its sidecars with it.
    func run(_ files: [HashedFile]) throws(ImportEnded) -> Finding {
        let shots = files.indices.filter { Self.shotRoles.contains(files[$0].role) }
        var finding = Finding()
        var own = shots.isEmpty ? within ?? [] : []
        for position in shots {
            guard let asset = try holder(of: files[position], among: within) else { continue }
            finding.known.insert(position)
            finding.asset = finding.asset ?? asset
            own.insert(asset)
        }
        guard !own.isEmpty else { return finding }
        for position in files.indices where !shots.contains(position) {
            guard let asset = try holder(of: files[position], among: own) else { continue }
            finding.known.insert(position)
            finding.asset = finding.asset ?? asset
        }
        return finding
    }

    /// What can be a shot by itself.
    static let shotRoles: Set<Role> = [.photo, .alternatePhoto, .video, .pairedVideo]

    /// The asset that has these bytes; nil when none of `assets` (of all, when that is nil) holds them.
    private func holder(of file: HashedFile, among assets: Set<Asset.ID>?) throws(ImportEnded) -> Asset.ID? {
        if try endingImport({ () throws(Problem) in try store.isTombstoned(file.sha256) }) {
            throw ImportEnded(
                Problem(.tombstone, "\(SafeText.of(file.source)) was deleted from the library on purpose."))
        }
        for candidate in try endingImport({ () throws(Problem) in try store.resources(withHash: file.sha256) }) {
            if let assets, !assets.contains(candidate.asset) { continue }
            if try holdsBytes(candidate.resource) { return candidate.asset }
            log(
                LogLine(
                    .warning, "A file of the library no longer holds the bytes the catalog says; it is imported anew.",
                    [("ASSET_ID", candidate.asset), ("PATH", SafeText.of(candidate.resource.path))]))
        }
        return nil
    }

    /// A file that cannot be read may be readable in a moment. At this attempt it counts as lost, and the photo is stored
    /// again: perhaps there is no other copy.
    static let patience = 3

    private func holdsBytes(_ resource: Resource) throws(ImportEnded) -> Bool {
        let failure: Errno
        do throws(CopyFailure) {
            return try readAgain(resource) == resource.sha256
        } catch {
            switch error {
            case .source(let errno), .destination(let errno): failure = errno
            case .cancelled: throw ImportEnded(.cancelled)
            }
        }
        if [.noEntry, .notDirectory, .loop, .notRegularFile].contains(failure) { return false }  // it was moved away
        let problem = Problem.library(resource.path, failure, doing: "read back")
        if attempt >= Self.patience, !problem.code.isOutage { return false }
        throw ImportEnded(problem)
    }

    /// - Returns: nil when it is another file already by its size.
    private func readAgain(_ resource: Resource) throws(CopyFailure) -> SHA256Digest? {
        let opened: Descriptor?
        do throws(Errno) {
            opened = try openOfSize(resource)
        } catch {
            throw .destination(error)
        }
        guard let descriptor = opened else { return nil }
        return try readBack(descriptor, isCancelled: isCancelled).sha256
    }

    private func openOfSize(_ resource: Resource) throws(Errno) -> Descriptor? {
        let descriptor = try library.root.openForReading(resource.path)
        guard try descriptor.status().stamp.size == resource.size else { return nil }
        return descriptor
    }
}
