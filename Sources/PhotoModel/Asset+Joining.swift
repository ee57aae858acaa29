extension Asset {
    /// The asset once more files have joined it: what is announced, what the catalog holds, and what a rebuild will make
    /// of the journal are all this.
    ///
    /// Roles and kind follow from all files, so that none that exists once comes twice. What the asset did not know of
    /// itself is filled in; and where the first photo joins a video, that leads from now on, with its time, size and
    /// orientation. A preview that is there stays. The same files, joined by facts that have been merged already, change
    /// nothing more.
    /// - Parameters:
    ///   - new: the files, with the roles that they have among themselves.
    ///   - facts: what they say together.
    ///   - holdsVideo: whether one of them is a motion photo.
    ///   - preview: what was made of them; nil for nothing.
    package func joined(
        by new: [Resource], facts: Facts, holdsVideo: Bool = false, preview: AssetPreview?
    ) -> Asset {
        var asset = self
        asset.resources += new
        let roles = Membership.roles(of: asset.resources.map(Membership.Member.init))
        for (position, role) in roles.enumerated() { asset.resources[position].role = role }
        if !resources.contains(where: \.isPicture), new.contains(where: \.isPicture) { asset.facts.lead(facts) }
        asset.facts.fill(facts)
        if asset.preview.path == nil, let preview, preview.path != nil { asset.preview = preview }
        asset.kind = Membership.kind(
            of: asset.resources.map(Membership.Member.init), isScreenshot: asset.facts.isScreenshot,
            holdsVideo: holdsVideo || motion == .embedded)
        return asset
    }
}

extension Asset {
    /// Where the video is that belongs to the picture.
    package enum Motion: String, Sendable {
        /// A file of its own: a Live Photo.
        case paired
        /// Inside the picture's file, behind the picture: a motion photo.
        case embedded
    }

    /// nil for an asset without a picture that moves.
    package var motion: Motion? {
        guard kind == .livePhoto else { return nil }
        return resources.contains { $0.role == .pairedVideo } ? .paired : .embedded
    }
}

extension Resource {
    fileprivate var isPicture: Bool { mediaType.isStill && role != .thumbnail }
}

extension Facts {
    /// A time counts more or less by where it comes from; of two that count the same the first stays.
    private func isBetterDated(_ other: Facts) -> Bool {
        guard capturedAt != nil else { return false }
        return (dateSource ?? .mtime).rank < (other.dateSource ?? .mtime).rank || other.capturedAt == nil
    }

    private mutating func takeDate(of other: Facts) {
        capturedAt = other.capturedAt
        capturedOffset = other.capturedOffset
        dateSource = other.dateSource
    }

    fileprivate mutating func fill(_ other: Facts) {
        if other.isBetterDated(self) { takeDate(of: other) }
        make = make ?? other.make
        model = model ?? other.model
        lens = lens ?? other.lens
        contentIdentifier = contentIdentifier ?? other.contentIdentifier
        guard latitude == nil, longitude == nil else { return }
        latitude = other.latitude
        longitude = other.longitude
    }

    fileprivate mutating func lead(_ photo: Facts) {
        if !isBetterDated(photo) { takeDate(of: photo) }
        implausibleAt = photo.implausibleAt
        implausibleSource = photo.implausibleSource
        size = photo.size
        orientation = photo.orientation
        isScreenshot = photo.isScreenshot
    }
}
