import PhotoModel
import Store

/// Whether a job's files are late members of a shot that came before: what they wait for, and which asset they join.
///
/// A shot is joined by equal content identifier, or by equal stem, folder, filesystem and capture time. Sidecars need not
/// agree on the time, for correcting it is what people use them for: they go with the file that they are of. Where more
/// than one asset would do, none is joined: nobody can tell which.
struct LateStep {
    let store: Store
    let job: Job
    let now: Timestamp
    private let catalog: any ShotCatalog

    /// - Parameter catalog: where shots are looked for; nil for the store itself.
    init(store: Store, job: Job, now: Timestamp, catalog: (any ShotCatalog)? = nil) {
        self.store = store
        self.job = job
        self.now = now
        self.catalog = catalog ?? store
    }

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
        return Set(try catalog.assets(ofShot: place).map(\.id))
    }

    /// The one asset that these files belong to; nil when there is none, or more than one.
    func asset(for staged: [StagedResource], _ inspections: [Inspection]) throws(Problem) -> Asset? {
        let identifiers = Set(inspections.compactMap(\.facts.contentIdentifier))
        if identifiers.count == 1, let identifier = identifiers.first {
            let found = try catalog.assets(withContentIdentifier: identifier)
            if !found.isEmpty { return found.count == 1 ? found[0] : nil }
        }
        guard let place = Store.ShotPlace(job) else { return nil }
        guard staged.contains(where: { DuplicateStep.shotRoles.contains($0.role) }) else {
            let homes = try homes(of: staged, inspections)
            return Set(homes.map { $0?.id }).count == 1 ? homes[0] : nil
        }
        let agreeing = try catalog.assets(ofShot: place).filter { agrees($0, staged, inspections, identifiers) }
        return agreeing.count == 1 ? agreeing[0] : nil
    }

    /// The asset that each companion belongs to by itself, by the rule by which it would have been parted, had it come with
    /// its shot: ``Parting``. Of what ended without an asset, or came in several versions, nobody can tell.
    func homes(of companions: [StagedResource], _ inspections: [Inspection]) throws(Problem) -> [Asset?] {
        guard let place = Store.ShotPlace(job) else { return companions.map { _ in nil } }
        let files = try catalog.files(ofShot: place)
        let names = Grouping.inOrder(files.keys.map(\.name))
        var assets: [Asset.ID: Asset] = [:]
        for asset in files.values.joined() { assets[asset.id] = asset }
        return zip(companions, inspections).map { companion, inspection in
            let name = companion.source.name
            if ShotName(name).target.flatMap({ Attachment.named($0, among: names) }) == nil,
                let date = inspection.ownDate(now: now)
            {
                let agreeing = assets.values.filter { $0.facts.date?.agrees(date) ?? false }
                if agreeing.count == 1 { return agreeing[0] }
            }
            guard let member = Attachment.member(of: name, among: names) else { return nil }
            let found = files[place.folder / names[member]] ?? []
            return found.count == 1 ? found[0] : nil
        }
    }

    private func agrees(
        _ asset: Asset, _ staged: [StagedResource], _ inspections: [Inspection], _ identifiers: Set<String>
    ) -> Bool {
        if let known = asset.facts.contentIdentifier, !identifiers.isEmpty, !identifiers.contains(known) {
            return false
        }
        guard let lead = zip(staged, inspections).first(where: { DuplicateStep.shotRoles.contains($0.0.role) }) else {
            return false
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

    /// For sidecars of which no photo or video is in the library.
    func orphan() -> Problem {
        Problem(.orphan, "\(SafeText.of(job.files[0].path)) came without the photo it belongs to.")
    }
}
