/// Which photo or video of a shot a companion speaks of.
///
/// Its own name says so: `IMG_1.CR2.xmp` is of `IMG_1.CR2`, also where only the case of the extension differs. What has the
/// stem alone goes by who writes such files: RAW programs write `IMG_1.xmp` (`.pp3`, `.dop`), so it is of the RAW; a `.THM`
/// or subtitles are of the video, else of the RAW; an edit (`.AAE`), a sound and everything else are of the leading file.
package enum Attachment {
    /// - Parameters:
    ///   - companion: its file name.
    ///   - members: the names of the photos and videos, the leading one first.
    /// - Returns: a position in `members`; nil when there are none.
    package static func member(of companion: Path, among members: [Path]) -> Int? {
        let shot = ShotName(companion)
        if let target = shot.target, let named = named(target, among: members) { return named }
        func first(_ isMeant: (NameKind) -> Bool) -> Int? {
            members.firstIndex { isMeant(ShotName($0).kind) }
        }
        let found: Int? =
            switch shot.kind {
            case .sidecar: first { $0 == .raw }
            case .thumbnail: first { $0 == .video } ?? first { $0 == .raw }
            case .looseSidecar where companion.lowercaseExtension != "json": first { $0 == .video }
            default: nil
            }
        return found ?? (members.isEmpty ? nil : 0)
    }

    /// The photo or video of its asset that a companion speaks of; nil for a photo or video, and where there is none.
    package static func owner(of companion: Resource, in resources: [Resource]) -> Resource? {
        guard isCompanion(companion.role) else { return nil }
        let members = resources.filter { !isCompanion($0.role) }
        // Of two that came from two folders under one name, the one beside it.
        let near = members.filter { $0.sourcePath.parent == companion.sourcePath.parent }
        let reached = near.isEmpty ? members : near
        // Of two that a content identifier made one, the one of its stem.
        let stem = ShotName(companion.sourcePath.name).stem
        let namesakes = reached.filter { ShotName($0.sourcePath.name).stem == stem }
        let named = namesakes.isEmpty ? reached : namesakes
        // A photo leads, also where it joined its video later.
        let candidates = named.filter { $0.role == .photo } + named.filter { $0.role != .photo }
        return member(of: companion.sourcePath.name, among: candidates.map(\.sourcePath.name)).map { candidates[$0] }
    }

    private static func isCompanion(_ role: Role) -> Bool {
        switch role {
        case .adjustment, .sidecar, .audio, .thumbnail: true
        case .photo, .alternatePhoto, .pairedVideo, .video: false
        }
    }

    /// The member whose name is `target`, as it stands there or else but for the case of its extension.
    package static func named(_ target: Path, among members: [Path]) -> Int? {
        members.firstIndex(of: target)
            ?? members.firstIndex {
                $0.stem == target.stem && $0.lowercaseExtension == target.lowercaseExtension
            }
    }
}
