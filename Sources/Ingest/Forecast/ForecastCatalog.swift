import PhotoModel
import Store

/// The catalog as it would be once the shots that were foretold so far had been imported.
struct ForecastCatalog: ShotCatalog {
    private let store: Store
    /// Assets that are not there yet, and those of the catalog that others would have joined.
    private var changed: [Asset.ID: Asset] = [:]
    private var new: Set<Asset.ID> = []
    /// By the folder and stem of their originals, and by content identifier: one look each, however many there are.
    private var byStem: [Path: Set<Asset.ID>] = [:]
    private var byIdentifier: [String: Set<Asset.ID>] = [:]
    /// The photos and videos that would have come, as their jobs would tell of them.
    private var files: [Store.ShotPlace: [(path: Path, asset: Asset.ID?)]] = [:]

    init(store: Store) { self.store = store }

    func isNew(_ asset: Asset.ID) -> Bool { new.contains(asset) }

    func asset(_ id: Asset.ID) throws(Problem) -> Asset? {
        if let known = changed[id] { return known }
        return try store.asset(id)
    }

    /// An asset that is not there yet gets an id that only this knows.
    mutating func add(_ asset: Asset) -> Asset.ID {
        var asset = asset
        if asset.id.isEmpty {
            asset.id = "foretold \(new.count)"
            new.insert(asset.id)
        }
        changed[asset.id] = asset
        for path in asset.resources.map(\.path) {
            byStem[path.parent / ShotName(path.name).stem, default: []].insert(asset.id)
        }
        if let identifier = asset.facts.contentIdentifier { byIdentifier[identifier, default: []].insert(asset.id) }
        return asset.id
    }

    /// - Parameter asset: nil for files that would not be imported.
    mutating func note(_ sources: [Path], of job: Job, asset: Asset.ID?) {
        guard let place = Store.ShotPlace(job) else { return }
        for file in job.files where DuplicateStep.shotRoles.contains(file.role) && sources.contains(file.path) {
            files[place, default: []].append((file.path, asset))
        }
    }

    func assets(withContentIdentifier identifier: String) throws(Problem) -> [Asset] {
        with(byIdentifier[identifier], try store.assets(withContentIdentifier: identifier))
    }

    /// What the store has, as it would be by then, and what it does not have yet.
    private func with(_ more: Set<Asset.ID>?, _ known: [Asset]) -> [Asset] {
        let own = Set(known.map(\.id))
        return known.map { changed[$0.id] ?? $0 }
            + (more ?? []).subtracting(own).sorted().compactMap { changed[$0] }
    }

    func assets(ofShot place: Store.ShotPlace) throws(Problem) -> [Asset] {
        var assets = try store.assets(ofShot: place).map { changed[$0.id] ?? $0 }
        for file in files[place] ?? [] {
            guard let id = file.asset, !assets.contains(where: { $0.id == id }), let asset = try asset(id) else {
                continue
            }
            assets.append(asset)
        }
        return assets
    }

    func files(ofShot place: Store.ShotPlace) throws(Problem) -> [Path: [Asset]] {
        var found = try store.files(ofShot: place).mapValues { $0.map { changed[$0.id] ?? $0 } }
        for file in files[place] ?? [] {
            var assets = found[file.path] ?? []
            if let id = file.asset, !assets.contains(where: { $0.id == id }), let asset = try asset(id) {
                assets.append(asset)
            }
            found[file.path] = assets
        }
        return found
    }

    /// The assets that have originals of this stem in this folder by then.
    func assets(ofStemOf path: Path) throws(Problem) -> [Asset] {
        with(byStem[path.parent / path.name.stem], try store.assets(ofStemOf: path))
    }
}
