/// Which files of one folder and one stem travel together, and as what.
///
/// A shot has one file for each extension: `A.HEIC` and `A.MOV` are a Live Photo, `A.CR2` and `A.JPG` a RAW with its
/// JPEG, two RAWs with one JPEG (a camera's own and a DNG made of it) still one shot. `A.JPG` and `A.jpg` are two, because no
/// camera writes that. The leading file is the best by kind (HEIC, JPEG, PNG, other images, RAW, video), then by name; a
/// companion goes with the file that it is of, see ``Attachment``. Names decide here; once the metadata is read, members
/// whose times or identifiers disagree are parted: ``Parting``.
package enum Grouping {
    /// So many files are one group at most; the rest makes further groups.
    package static let largest = 32

    package struct Member: Hashable, Sendable {
        /// Place of the file in the list that was given.
        package let index: Int
        package let role: Role

        package init(index: Int, role: Role) {
            self.index = index
            self.role = role
        }
    }

    /// Every index is in exactly one group, and no group is empty. The leading file is the first of its group.
    package static func groups(of names: [Path]) -> [[Member]] {
        let files = names.enumerated().map { File(index: $0.offset, name: $0.element, shot: ShotName($0.element)) }
        var result = files.filter { $0.shot.kind == .other }.map { [Member(index: $0.index, role: .photo)] }

        var shots = shots(of: files.filter { $0.shot.kind.isMedia }.sorted(by: File.leads))
        let companions = files.filter { $0.shot.kind.isCompanion }.sorted(by: File.leads)
        if shots.isEmpty {
            // Alone, a loose sidecar is nothing known: its content decides, as for every other file.
            result += companions.filter { $0.shot.kind == .looseSidecar }.map {
                [Member(index: $0.index, role: .photo)]
            }
            let bound = companions.filter { $0.shot.kind != .looseSidecar }
            if !bound.isEmpty { result += parts(bound.map { Member(index: $0.index, role: $0.companionRole) }) }
            return result
        }
        let media = shots.indices.flatMap { place in shots[place].map { (name: $0.name, place: place) } }
        for companion in companions {
            let member = Attachment.member(of: companion.name, among: media.map(\.name)) ?? 0
            shots[media[member].place].append(companion)
        }
        return shots.flatMap { parts(members(of: $0)) } + result
    }

    /// Names as a group lists them, the leading one first.
    package static func inOrder(_ names: [Path]) -> [Path] {
        names.enumerated().map { File(index: $0.offset, name: $0.element, shot: ShotName($0.element)) }
            .sorted(by: File.leads).map(\.name)
    }

    /// Whether nothing in the group can be a shot by itself.
    package static func isOrphan(_ group: [Member]) -> Bool {
        group.allSatisfy { member in
            switch member.role {
            case .adjustment, .sidecar, .audio, .thumbnail: true
            case .photo, .alternatePhoto, .pairedVideo, .video: false
            }
        }
    }

    /// Whether the names alone show that a drop's `kinds` leaves the group alone. What is unclear (a screenshot, a
    /// picture with a video inside) passes; its content is asked later. So a video is not copied only to be skipped.
    package static func isFiltered(_ kinds: Set<AssetKind>, names: [Path]) -> Bool {
        guard !kinds.isEmpty else { return false }
        let media = names.map { ShotName($0).kind }.filter(\.isMedia)
        guard !media.isEmpty else { return false }  // of no known kind, or members of a shot that came before
        let hasVideo = media.contains(.video)
        let hasRaw = media.contains(.raw)
        let hasPicture = media.contains { $0.isStill && $0 != .raw }
        var possible: Set<AssetKind> = []
        if hasVideo { possible.insert(.video) }
        if hasRaw { possible.insert(.raw) }
        if hasPicture { possible.formUnion([.photo, .screenshot, .livePhoto]) }
        if hasVideo && (hasPicture || hasRaw) { possible.formUnion([.photo, .livePhoto]) }
        return possible.isDisjoint(with: kinds)
    }

    /// Whether a video of this extension can be the other half of a Live Photo.
    static func canPair(_ lowercaseExtension: String) -> Bool { ["mov", "mp4", "m4v"].contains(lowercaseExtension) }

    private struct File {
        let index: Int
        let name: Path
        let shot: ShotName

        var companionRole: Role {
            switch shot.kind {
            case .adjustment: .adjustment
            case .audio: .audio
            case .thumbnail: .thumbnail
            default: .sidecar  // the only other companions
            }
        }

        static func leads(_ left: File, _ right: File) -> Bool {
            if left.shot.kind != right.shot.kind { return left.shot.kind.rawValue < right.shot.kind.rawValue }
            let (one, other) = (left.name.lowercaseExtension, right.name.lowercaseExtension)
            // Of two videos the QuickTime file is the likelier half of a Live Photo.
            if one != other { return (one != "mov" ? 1 : 0, one) < (other != "mov" ? 1 : 0, other) }
            return left.name < right.name
        }
    }

    private static func shots(of media: [File]) -> [[File]] {
        var shots: [[File]] = []
        for file in media {
            let own = file.name.lowercaseExtension
            if let place = shots.firstIndex(where: { shot in !shot.contains { $0.name.lowercaseExtension == own } }) {
                shots[place].append(file)
            } else {
                shots.append([file])
            }
        }
        return shots
    }

    private static func members(of shot: [File]) -> [Member] {
        var hasPairedVideo = false
        let isStill = shot.first?.shot.kind.isStill ?? false
        return shot.enumerated().map { place, file in
            let role: Role
            if file.shot.kind.isStill {
                role = place == 0 ? .photo : .alternatePhoto
            } else if file.shot.kind == .video {
                role = isStill && canPair(file.name.lowercaseExtension) && !hasPairedVideo ? .pairedVideo : .video
                if role == .pairedVideo { hasPairedVideo = true }
            } else {
                role = file.companionRole
            }
            return Member(index: file.index, role: role)
        }
    }

    private static func parts(_ members: [Member]) -> [[Member]] {
        stride(from: 0, to: members.count, by: largest).map { Array(members[$0..<min($0 + largest, members.count)]) }
    }
}
