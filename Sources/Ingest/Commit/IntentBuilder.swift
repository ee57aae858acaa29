import PhotoModel
import Store

/// Puts together what a commit will do, for each try at a free name.
struct IntentBuilder {
    let claim: Store.Claim
    let plan: ImportPlan
    let facts: ShotFacts
    let staged: [StagedResource]
    let inspections: [Inspection]
    var preview: PreviewStep.Result
    let assetID: Asset.ID
    /// The asset in the catalog that the files join.
    let joined: Asset?
    /// What `{seq}` stands for.
    let sequence: Int64
    /// Of names in the library.
    var rules = NameRules()
    let now: Timestamp

    func intent(collision: Int) -> CommitIntent {
        let paths =
            if let joined {
                Placement.paths(
                    beside: joined, for: staged.map(\.source.name), collision: collision, rules: rules)
            } else {
                placement.paths(collision: collision)
            }
        var resources: [Resource] = []
        var moves: [CommitIntent.Move] = []
        for (position, resource) in staged.enumerated() {
            resources.append(resource.resource(at: paths[position], inspections[position]))
            moves.append(
                .init(
                    staged: resource.staged, final: paths[position], sha256: resource.sha256, size: resource.size,
                    device: resource.device, inode: resource.inode))
        }
        // The leading photo is renamed last: whoever sees it sees the whole shot.
        moves.reverse()
        if case .made(let made) = preview {
            moves.insert(contentsOf: made.moves(of: assetID), at: 0)
        }
        let asset =
            joined.map {
                $0.joined(by: resources, facts: facts.facts, holdsVideo: facts.holdsVideo, preview: assetPreview)
            }
            ?? Asset(
                id: assetID, kind: facts.kind, collection: plan.collection, facts: facts.facts, resources: resources,
                preview: assetPreview, importedAt: now)
        return CommitIntent(
            job: claim.job.id, importID: claim.importID, moves: moves, asset: asset, joinsExisting: joined != nil)
    }

    private var assetPreview: AssetPreview { Self.describe(preview, of: assetID) }

    /// The preview as the catalog will have it.
    static func describe(_ preview: PreviewStep.Result, of asset: Asset.ID) -> AssetPreview {
        switch preview {
        case .none: AssetPreview(state: .none)
        case .failed(let problem): AssetPreview(state: .failed, problem: problem)
        case .made(let made):
            AssetPreview(
                state: made.isPartial ? .partial : .ok,
                problem: made.isPartial
                    ? Problem(.truncated, made.warning ?? "Only a part of the picture is there.") : nil,
                path: LibraryLayout.preview(of: asset), size: made.picture.size,
                renditions: made.renditions.map {
                    Rendition(
                        spec: $0.spec, path: LibraryLayout.rendition($0.spec.name, of: asset), size: $0.picture.size)
                })
        }
    }

    private var placement: Placement {
        var placement = Placement(
            of: staged, facts: facts.facts, template: plan.template, drop: claim.job.drop, batch: claim.job.batch,
            sequence: sequence, id: assetID)
        placement.rules = rules
        return placement
    }
}
