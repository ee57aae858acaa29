/// What a commit is about to do, durable before the first rename, so that recovery can finish or undo it without the
/// source. DESIGN section 4.
package struct CommitIntent: Sendable, Codable {
    /// One file on its way from staging to where it will be seen.
    package struct Move: Sendable, Codable, Hashable {
        /// Relative to the library.
        package var staged: Path
        package var final: Path
        package var sha256: SHA256Digest
        package var size: Int64
        /// Of the staged file: a final path is ours only if it leads to this inode.
        package var device: UInt64
        package var inode: UInt64

        package init(
            staged: Path, final: Path, sha256: SHA256Digest, size: Int64, device: UInt64, inode: UInt64
        ) {
            self.staged = staged
            self.final = final
            self.sha256 = sha256
            self.size = size
            self.device = device
            self.inode = inode
        }
    }

    package var job: Job.ID
    package var importID: String
    /// In the order of the renames: previews and secondary files first, the photo last.
    package var moves: [Move]
    /// The whole asset as it will stand in the catalog, also when it is there already and gains resources.
    package var asset: Asset
    /// Whether ``asset`` is already in the catalog and only gains resources.
    package var joinsExisting: Bool

    /// Those of the asset's resources that this commit brings.
    package var newResources: [Resource] {
        guard joinsExisting else { return asset.resources }
        let finals = Set(moves.map(\.final))
        return asset.resources.filter { finals.contains($0.path) }
    }

    /// The same with what it brings to `folder` in another one.
    package func moved(from folder: Path, to other: Path) -> CommitIntent {
        var intent = self
        var renamed: [Path: Path] = [:]
        for (position, move) in moves.enumerated() where move.final.parent == folder {
            renamed[move.final] = other / move.final.name
            intent.moves[position].final = other / move.final.name
        }
        for (position, resource) in asset.resources.enumerated() {
            intent.asset.resources[position].path = renamed[resource.path] ?? resource.path
        }
        return intent
    }

    package init(job: Job.ID, importID: String, moves: [Move], asset: Asset, joinsExisting: Bool) {
        self.job = job
        self.importID = importID
        self.moves = moves
        self.asset = asset
        self.joinsExisting = joinsExisting
    }
}
