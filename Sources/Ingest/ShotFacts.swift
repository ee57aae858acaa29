import Files
import PhotoModel

/// What a shot is as a whole, from what its files say.
struct ShotFacts: Sendable {
    let facts: Facts
    let kind: AssetKind
    /// Whether one of the files is a motion photo.
    let holdsVideo: Bool

    init(job: Job, staged: [StagedResource], inspections: [Inspection], now: Timestamp) {
        self.init(files: staged, inspections: inspections, now: now)
    }

    init(files staged: [StagedResource], inspections: [Inspection], now: Timestamp) {
        holdsVideo = zip(staged, inspections).contains { $0.role != .thumbnail && $1.holdsVideo }
        kind = Self.kind(of: staged, inspections)
        guard let lead = staged.first, let inspection = inspections.first else {
            facts = Facts()
            return
        }
        var facts = inspection.facts
        let speakers = Self.speakers(staged, inspections)
        let modified = SystemClock.localWallTime(at: Timestamp(nanoseconds: lead.sourceStamp.mtime))
        facts.date = CaptureDate.choose(
            from: speakers.flatMap { inspections[$0].dates }, name: lead.source.name, modified: modified, now: now)
        let implausible = CaptureDate.implausible(in: inspection.dates, now: now)
        facts.implausibleAt = implausible?.time
        facts.implausibleSource = implausible?.source
        for other in speakers.dropFirst().map({ inspections[$0].facts }) {
            facts.make = facts.make ?? other.make
            facts.model = facts.model ?? other.model
            facts.lens = facts.lens ?? other.lens
            facts.contentIdentifier = facts.contentIdentifier ?? other.contentIdentifier
            if facts.latitude == nil, facts.longitude == nil {
                facts.latitude = other.latitude
                facts.longitude = other.longitude
            }
        }
        self.facts = facts
    }

    /// What the files are by themselves, or what the asset will be that they join.
    func kind(joining asset: Asset?, _ staged: [StagedResource], _ inspections: [Inspection]) -> AssetKind {
        let resources = zip(staged, inspections).map { $0.resource(at: $0.staged, $1) }
        return asset?.joined(by: resources, facts: facts, holdsVideo: holdsVideo, preview: nil).kind ?? kind
    }

    /// Who is asked before whom, as positions: the leading file first, for what it says of itself counts; where it is silent
    /// the other photos and videos (a HEIC without GPS beside a RAW with it), then thumbnails, then sidecars, those of the
    /// leading file before the others, and what Google wrote last.
    private static func speakers(_ staged: [StagedResource], _ inspections: [Inspection]) -> [Int] {
        let shots = staged.indices.filter { DuplicateStep.shotRoles.contains(staged[$0].role) }
        let names = shots.map { staged[$0].source.name }
        func rank(_ position: Int) -> Int {
            let file = staged[position]
            if shots.contains(position) { return 0 }
            if file.role == .thumbnail { return 1 }
            let member = Attachment.member(of: file.source.name, among: names) ?? 0
            return (inspections[position].mediaType == .json ? 1000 : 2) + member
        }
        let others = staged.indices.dropFirst().map { (rank: rank($0), position: $0) }
        return [0] + others.sorted { ($0.rank, $0.position) < ($1.rank, $1.position) }.map(\.position)
    }

    /// The capture time of one file by itself.
    static func date(of file: StagedResource, _ inspection: Inspection, now: Timestamp) -> CaptureDate {
        let modified = SystemClock.localWallTime(at: Timestamp(nanoseconds: file.sourceStamp.mtime))
        return CaptureDate.choose(from: inspection.dates, name: file.source.name, modified: modified, now: now)
    }

    static func kind(of staged: [StagedResource], _ inspections: [Inspection]) -> AssetKind {
        let isScreenshot = zip(staged, inspections).contains {
            $0.0.role != .thumbnail && $0.1.mediaType.isStill && $0.1.facts.isScreenshot
        }
        let holdsVideo = zip(staged, inspections).contains { $0.role != .thumbnail && $1.holdsVideo }
        return Membership.kind(
            of: members(staged, inspections), isScreenshot: isScreenshot, holdsVideo: holdsVideo)
    }

    static func members(_ staged: [StagedResource], _ inspections: [Inspection]) -> [Membership.Member] {
        zip(staged, inspections).map { file, inspection in
            Membership.Member(
                role: file.role, mediaType: inspection.mediaType, pathExtension: file.source.lowercaseExtension)
        }
    }
}
