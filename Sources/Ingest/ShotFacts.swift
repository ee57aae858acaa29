import Files
import PhotoModel

/// What a shot is as a whole, from what its files say.
struct ShotFacts: Sendable {
    let facts: Facts
    let kind: AssetKind

    init(job: Job, staged: [StagedResource], inspections: [Inspection], now: Timestamp) {
        kind = Self.kind(of: staged, inspections)
        guard let lead = staged.first, let inspection = inspections.first else {
            facts = Facts()
            return
        }
        let modified = SystemClock.localWallTime(at: Timestamp(nanoseconds: lead.sourceStamp.mtime))
        var facts = inspection.facts(name: lead.source.name, modified: modified, now: now)
        // The leading file may be silent where a companion speaks: a HEIC without GPS beside a RAW with it.
        for (other, resource) in zip(inspections, staged).dropFirst() where resource.role != .sidecar {
            facts.make = facts.make ?? other.facts.make
            facts.model = facts.model ?? other.facts.model
            facts.lens = facts.lens ?? other.facts.lens
            facts.contentIdentifier = facts.contentIdentifier ?? other.facts.contentIdentifier
            if facts.latitude == nil, facts.longitude == nil {
                facts.latitude = other.facts.latitude
                facts.longitude = other.facts.longitude
            }
        }
        self.facts = facts
    }

    static func kind(of staged: [StagedResource], _ inspections: [Inspection]) -> AssetKind {
        let roles = Set(staged.map(\.role))
        let stills = zip(staged, inspections).filter { $0.1.mediaType.isStill }.map(\.1)
        if roles.contains(.pairedVideo), !stills.isEmpty { return .livePhoto }
        if stills.isEmpty, inspections.contains(where: { $0.mediaType.isVideo }) { return .video }
        if !stills.isEmpty, stills.allSatisfy({ $0.mediaType == .raw }) { return .raw }
        if stills.contains(where: { $0.facts.isScreenshot }) { return .screenshot }
        return .photo
    }
}
