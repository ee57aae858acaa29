package import PhotoModel

/// What the library's journal tells of assets after their import: they were taken out, their bytes were let in again, they
/// got a preview. Of each only what counts in the end.
package struct Afterlife: Sendable {
    /// One line, and where it stands.
    package struct Act: Sendable {
        package enum Kind: String, Sendable {
            /// Taken out for good: the same bytes stay out.
            case trash
            case undo
            case forget
            case preview

            package var isRemoval: Bool { self == .trash || self == .undo }
        }

        package let id: Int64
        package let kind: Kind
        let file: Int
        let offset: Int64
        let count: Int
        let assetHash: Int
    }

    /// Assets that were taken out, and those whose tombstones were dropped, in the order of the lines.
    package private(set) var removals: [Act] = []
    /// The last preview of each asset.
    package private(set) var previews: [Act] = []
    /// By the asset: the line that took it out.
    private(set) var removed: [Int: Int64] = [:]
    private var digests: [Int64: [Int]] = [:]
    /// By the bytes: the line whose tombstone stands in the end.
    private var tombstones: [Int: Int64] = [:]

    /// - Parameter hashes: of the SHA-256 of an asset's files.
    mutating func add(_ act: Act, digests hashes: [Int]) {
        if act.kind == .preview { previews.append(act) } else { removals.append(act) }
        if act.kind.isRemoval { removed[act.assetHash] = act.id }
        if act.kind == .trash { digests[act.id] = hashes }
    }

    /// A removal that was interrupted is announced again, under its id.
    mutating func settle() {
        removals = Self.last(of: removals, by: \.id)
        previews = Self.last(of: previews.filter { removed[$0.assetHash] == nil }, by: { Int64($0.assetHash) })
        for act in removals {
            switch act.kind {
            case .trash:
                // What was deleted before is not deleted again: the first tombstone stands.
                for digest in digests[act.id] ?? [] where tombstones[digest] == nil { tombstones[digest] = act.id }
            case .forget:
                // Of an asset that something joined on its way out there are two lines.
                for removal in removals where removal.kind == .trash && removal.assetHash == act.assetHash {
                    for digest in digests[removal.id] ?? [] where tombstones[digest] == removal.id {
                        tombstones[digest] = nil
                    }
                }
            case .undo, .preview: break
            }
        }
        digests = [:]
    }

    /// Of those that share a key, the one that was written last: with the highest id, or behind the other.
    private static func last(of acts: [Act], by key: (Act) -> Int64) -> [Act] {
        let sorted = acts.sorted { ($0.id, $0.file, $0.offset) < ($1.id, $1.file, $1.offset) }
        var last: [Int64: Int] = [:]
        for (position, act) in sorted.enumerated() { last[key(act)] = position }
        return sorted.enumerated().filter { last[key($0.element)] == $0.offset }.map(\.element)
    }

    /// Whether the tombstone that this removal left of these bytes stands in the end.
    package func stands(_ act: Act, for digest: SHA256Digest) -> Bool { tombstones[digest.hashValue] == act.id }
}

extension JournalIndex {
    package typealias Act = Afterlife.Act
}
