import PhotoModel
import SQLite

/// An asset that gains resources.
extension AssetRow {
    /// Adds the resources of `joining` to the asset that is there, and what follows from that: roles, kind, facts that
    /// were missing, and the preview if there was none.
    static func join(_ joining: Asset, on connection: borrowing Connection) throws(Problem) {
        let before = try resources(of: joining.id, on: connection)
        try add(joining.resources, to: joining.id, on: connection)
        let all = try resources(of: joining.id, on: connection)
        let roles = Membership.roles(of: all.map(Membership.Member.init))
        for (position, role) in roles.enumerated() where all[position].role != role {
            try connection.change(
                "UPDATE resource SET role = ? WHERE path = ?", [.text(role.rawValue), .blob(all[position].path.bytes)])
        }
        try fill(joining, on: connection)
        // The photo leads its shot: what the video alone had said of it gives way.
        let isStill = { (resource: Resource) in resource.mediaType.isStill && resource.role != .thumbnail }
        if !before.contains(where: isStill), joining.resources.contains(where: isStill) {
            try lead(joining, on: connection)
        }
        let isScreenshot = try connection.number("SELECT is_screenshot FROM asset WHERE id = ?", [.text(joining.id)])
        var members = all.map(Membership.Member.init)
        for position in members.indices { members[position].role = roles[position] }
        try connection.change(
            "UPDATE asset SET kind = ? WHERE id = ?",
            [.text(Membership.kind(of: members, isScreenshot: isScreenshot == 1).rawValue), .text(joining.id)])
    }

    static func resources(
        of asset: Asset.ID, on connection: borrowing Connection
    ) throws(Problem) -> [Resource] {
        try connection.all(
            "SELECT \(resourceColumns) FROM resource WHERE asset_id = ? ORDER BY position", [.text(asset)], resource)
    }

    private static func fill(_ joining: Asset, on connection: borrowing Connection) throws(Problem) {
        let facts = joining.facts
        try connection.change(
            """
            UPDATE asset SET make = coalesce(make, ?), model = coalesce(model, ?), lens = coalesce(lens, ?),
                content_identifier = coalesce(content_identifier, ?) WHERE id = ?
            """,
            [
                .text(facts.make), .text(facts.model), .text(facts.lens), .text(facts.contentIdentifier),
                .text(joining.id),
            ])
        try connection.change(
            "UPDATE asset SET latitude = ?, longitude = ? WHERE id = ? AND latitude IS NULL AND longitude IS NULL",
            [.real(facts.latitude), .real(facts.longitude), .text(joining.id)])
        guard joining.preview.path != nil else { return }
        try connection.change(
            """
            UPDATE asset SET preview_state = ?, preview_code = ?, preview_title = ?, preview_recovery = ?,
                preview_path = ?, preview_width = ?, preview_height = ? WHERE id = ? AND preview_path IS NULL
            """, previewValues(joining.preview) + [.text(joining.id)])
    }

    private static func lead(_ joining: Asset, on connection: borrowing Connection) throws(Problem) {
        let facts = joining.facts
        try connection.change(
            """
            UPDATE asset SET captured_at = ?, captured_offset = ?, date_source = ?, width = ?, height = ?,
                orientation = ?, is_screenshot = ? WHERE id = ?
            """,
            [
                .text(facts.capturedAt?.text ?? ""), .text(facts.capturedOffset), .text(facts.dateSource?.rawValue),
                .integer(facts.size.map { Int64($0.width) }), .integer(facts.size.map { Int64($0.height) }),
                .integer(Int64(facts.orientation)), .integer(facts.isScreenshot ? 1 : 0), .text(joining.id),
            ])
    }
}
