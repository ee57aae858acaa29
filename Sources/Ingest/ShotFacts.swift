import Files
import PhotoModel

/// What a shot is as a whole, from what its files say.
struct ShotFacts: Sendable {
    let facts: Facts
    let kind: AssetKind

    init(job: Job, staged: [StagedResource], inspections: [Inspection], now: Timestamp) {
        self.init(files: staged, inspections: inspections, now: now)
    }

    init(files staged: [StagedResource], inspections: [Inspection], now: Timestamp) {
        kind = Self.kind(of: staged, inspections)
        guard let lead = staged.first, let inspection = inspections.first else {
            facts = Facts()
            return
        }
        var facts = Self.facts(of: lead, inspection, now: now)
        let implausible = CaptureDate.implausible(in: inspection.dates, now: now)
        facts.implausibleAt = implausible?.time
        facts.implausibleSource = implausible?.source
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

    /// What one file says by itself, with the capture time that counts.
    static func facts(of file: StagedResource, _ inspection: Inspection, now: Timestamp) -> Facts {
        let modified = SystemClock.localWallTime(at: Timestamp(nanoseconds: file.sourceStamp.mtime))
        return inspection.facts(name: file.source.name, modified: modified, now: now)
    }

    static func kind(of staged: [StagedResource], _ inspections: [Inspection]) -> AssetKind {
        let isScreenshot = zip(staged, inspections).contains {
            $0.0.role != .thumbnail && $0.1.mediaType.isStill && $0.1.facts.isScreenshot
        }
        return Membership.kind(of: members(staged, inspections), isScreenshot: isScreenshot)
    }

    static func members(_ staged: [StagedResource], _ inspections: [Inspection]) -> [Membership.Member] {
        zip(staged, inspections).map { file, inspection in
            Membership.Member(
                role: file.role, mediaType: inspection.mediaType, pathExtension: file.source.lowercaseExtension)
        }
    }
}
