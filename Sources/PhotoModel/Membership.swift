/// What the files of one asset are to each other, once all of them are known.
package enum Membership {
    /// One file, in the order in which the asset lists them.
    package struct Member: Hashable, Sendable {
        package var role: Role
        package var mediaType: MediaType
        /// Of the source, in lower case.
        package var pathExtension: String

        package init(role: Role, mediaType: MediaType, pathExtension: String) {
            self.role = role
            self.mediaType = mediaType
            self.pathExtension = pathExtension
        }

        package init(_ resource: Resource) {
            self.init(
                role: resource.role, mediaType: resource.mediaType,
                pathExtension: resource.sourcePath.lowercaseExtension)
        }
    }

    /// The roles of all members, so that none that exists once comes twice: the first photo is the photo, the others are
    /// alternates; beside a still picture the first video that can be its other half is the paired one, the others are
    /// videos. Whoever joins gives way to what was there.
    package static func roles(of members: [Member]) -> [Role] {
        let photo =
            members.firstIndex { $0.role == .photo } ?? members.firstIndex { $0.role == .alternatePhoto }
        let paired =
            photo == nil
            ? nil
            : members.firstIndex { $0.role == .pairedVideo }
                ?? members.firstIndex { $0.role == .video && Grouping.canPair($0.pathExtension) }
        return members.indices.map { index in
            switch members[index].role {
            case .photo, .alternatePhoto: index == photo ? .photo : .alternatePhoto
            case .video, .pairedVideo: index == paired ? .pairedVideo : .video
            case .adjustment, .sidecar, .audio, .thumbnail: members[index].role
            }
        }
    }

    /// What the asset is as a whole. A motion photo, which has its video inside, is a Live Photo in one file.
    package static func kind(of members: [Member], isScreenshot: Bool, holdsVideo: Bool = false) -> AssetKind {
        let stills = members.filter { $0.mediaType.isStill && $0.role != .thumbnail }
        if !stills.isEmpty, holdsVideo || members.contains(where: { $0.role == .pairedVideo }) { return .livePhoto }
        if stills.isEmpty, members.contains(where: { $0.mediaType.isVideo }) { return .video }
        if !stills.isEmpty, stills.allSatisfy({ $0.mediaType == .raw }) { return .raw }
        return isScreenshot && !stills.isEmpty ? .screenshot : .photo
    }
}
