import PhotoModel
import Store

/// Whether a job's files are late members of a shot that came before: what they wait for, and which asset they join.
///
/// A shot is joined by equal content identifier, or by equal stem, folder, filesystem and capture time. Sidecars need not
/// agree on the time where the shot has one asset, or where they name its file: correcting it is what people use them for.
/// Where more than one asset would do, none is joined: nobody can tell which.
struct LateStep {
    let store: Store
    let job: Job
    let now: Timestamp

    /// Another job for photos or videos of this shot that has not ended, an older one or one that has begun already. Before
    /// it has, nothing can be decided. Without one, this one begins.
    func shotToWaitFor(_ turns: ShotTurns) throws(Problem) -> Job.ID? {
        try turns.begin(job.id) { (running) throws(Problem) in
            try store.unfinishedShot(before: job, running: running)
        }
    }

    /// Whether a photo or video of this shot was handed over before.
    func isShotKnown() throws(Problem) -> Bool {
        guard let place = Store.ShotPlace(job) else { return false }
        return try store.knowsShot(place)
    }

    /// All assets of this shot, of which there is more than one when it came in several versions.
    func assetsOfShot() throws(Problem) -> Set<Asset.ID> {
        guard let place = Store.ShotPlace(job) else { return [] }
        return Set(try store.assets(ofShot: place).map(\.id))
    }

    /// The one asset that these files belong to; nil when there is none, or more than one.
    func asset(for staged: [StagedResource], _ inspections: [Inspection]) throws(Problem) -> Asset? {
        let identifiers = Set(inspections.compactMap(\.facts.contentIdentifier))
        if identifiers.count == 1, let identifier = identifiers.first {
            let found = try store.assets(withContentIdentifier: identifier)
            if !found.isEmpty { return found.count == 1 ? found[0] : nil }
        }
        guard let place = Store.ShotPlace(job) else { return nil }
        let assets = try store.assets(ofShot: place)
        if !staged.contains(where: { DuplicateStep.shotRoles.contains($0.role) }) {
            if assets.count == 1 { return assets[0] }
            let named = assets.filter { asset in staged.allSatisfy { isNamed(by: $0, asset) } }
            if named.count == 1 { return named[0] }
        }
        let agreeing = assets.filter { agrees($0, staged, inspections, identifiers) }
        return agreeing.count == 1 ? agreeing[0] : nil
    }

    /// Whether a companion's own name says that it is of a file of this asset: `IMG_1.CR2.xmp` of `IMG_1.CR2`.
    private func isNamed(by companion: StagedResource, _ asset: Asset) -> Bool {
        guard let target = ShotName(companion.source.name).target else { return false }
        let beside = asset.resources.filter {
            DuplicateStep.shotRoles.contains($0.role) && $0.sourcePath.parent == companion.source.parent
        }
        return Attachment.named(target, among: beside.map(\.sourcePath.name)) != nil
    }

    private func agrees(
        _ asset: Asset, _ staged: [StagedResource], _ inspections: [Inspection], _ identifiers: Set<String>
    ) -> Bool {
        if let known = asset.facts.contentIdentifier, !identifiers.isEmpty, !identifiers.contains(known) {
            return false
        }
        guard let lead = zip(staged, inspections).first(where: { DuplicateStep.shotRoles.contains($0.0.role) }) else {
            return sidecarAgrees(asset, inspections)
        }
        // A second file of the same extension is another version, or another shot of the same name; no camera writes
        // two into one shot.
        let extensions = Set(
            asset.resources.filter { DuplicateStep.shotRoles.contains($0.role) }.map(\.sourcePath.lowercaseExtension))
        let isAnother = staged.contains {
            DuplicateStep.shotRoles.contains($0.role) && extensions.contains($0.source.lowercaseExtension)
        }
        if isAnother { return false }
        return asset.facts.date?.agrees(ShotFacts.date(of: lead.0, lead.1, now: now)) ?? false
    }

    /// Among several assets: one without a time of its own belongs to each by its name, one with a time must agree.
    private func sidecarAgrees(_ asset: Asset, _ inspections: [Inspection]) -> Bool {
        let date = inspections.flatMap(\.dates).first { $0.isPlausible(now: now) }
        guard let date else { return true }
        return asset.facts.date?.agrees(date) ?? false
    }

    /// For sidecars of which no photo or video is in the library.
    func orphan() -> Problem {
        Problem(.orphan, "\(SafeText.of(job.files[0].path)) came without the photo it belongs to.")
    }
}
