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
    ///   - preview: what was made of them; nil for nothing.
    package func joined(by new: [Resource], facts: Facts, preview: AssetPreview?) -> Asset {
        var asset = self
        asset.resources += new
        let roles = Membership.roles(of: asset.resources.map(Membership.Member.init))
        for (position, role) in roles.enumerated() { asset.resources[position].role = role }
        if !resources.contains(where: \.isPicture), new.contains(where: \.isPicture) { asset.facts.lead(facts) }
        asset.facts.fill(facts)
        if asset.preview.path == nil, let preview, preview.path != nil { asset.preview = preview }
        asset.kind = Membership.kind(
            of: asset.resources.map(Membership.Member.init), isScreenshot: asset.facts.isScreenshot)
        return asset
    }
}

extension Resource {
    fileprivate var isPicture: Bool { mediaType.isStill && role != .thumbnail }
}

extension Facts {
    fileprivate mutating func fill(_ other: Facts) {
        make = make ?? other.make
        model = model ?? other.model
        lens = lens ?? other.lens
        contentIdentifier = contentIdentifier ?? other.contentIdentifier
        guard latitude == nil, longitude == nil else { return }
        latitude = other.latitude
        longitude = other.longitude
    }

    fileprivate mutating func lead(_ photo: Facts) {
        capturedAt = photo.capturedAt
        capturedOffset = photo.capturedOffset
        dateSource = photo.dateSource
        implausibleAt = photo.implausibleAt
        implausibleSource = photo.implausibleSource
        size = photo.size
        orientation = photo.orientation
        isScreenshot = photo.isScreenshot
    }
}
