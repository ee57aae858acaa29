import PhotoModel

/// Where the files of one shot are to stand in the library, for each try at a free name.
struct Placement: Sendable {
    let template: NamingTemplate
    let shot: NamingTemplate.Shot
    let suffixes: [Path]
    /// Of names in the library.
    var rules = NameRules()

    init(template: NamingTemplate, shot: NamingTemplate.Shot, names: [Path]) {
        self.template = template
        self.shot = shot
        suffixes = names.map { NamingTemplate.suffix(of: $0, after: shot.stem) }
    }

    /// Of files that lie in the order of their shot.
    ///
    /// - Parameter sequence: what `{seq}` stands for.
    init(
        of files: [StagedResource], facts: Facts, template: NamingTemplate, drop: String, batch: Batch.ID,
        sequence: Int64, id: Asset.ID
    ) {
        let lead = files[0]
        let shot = NamingTemplate.Shot(
            capturedAt: facts.capturedAt ?? WallTime(secondsSince1970: lead.sourceStamp.mtime / 1_000_000_000),
            make: facts.make, model: facts.model, lens: facts.lens, stem: lead.source.name.stem, drop: drop,
            batch: batch, sequence: sequence, sha256: lead.sha256, id: id)
        self.init(template: template, shot: shot, names: files.map(\.source.name))
    }

    /// One path a file, in order, relative to the library; all share their stem.
    func paths(collision: Int) -> [Path] {
        template.paths(for: shot, suffixes: suffixes, collision: collision, rules: rules)
    }

    /// Beside the original that leads an asset, and under its stem: one path a file, in their order.
    ///
    /// Files of another stem, which a content identifier joins, leave their own out where what is left is free: `BAR.JPG`
    /// of `FOO.JPG` beside `BAR.MOV`. Else they keep it behind the asset's: `BAR_FOO.JPG`.
    static func paths(beside asset: Asset, for names: [Path], collision: Int, rules: NameRules = NameRules()) -> [Path]
    {
        guard let lead = asset.resources.first(where: { $0.role == .photo }) ?? asset.resources.first,
            let template = try? NamingTemplate("{stem}{ext}")  // a constant that is one
        else { return names }
        let own = lead.sourcePath.name.stem
        let shot = NamingTemplate.Shot(
            capturedAt: WallTime(secondsSince1970: 0), stem: lead.path.name.stem, drop: "", batch: 0, sequence: 0,
            sha256: lead.sha256, id: asset.id)
        let theirs = names.first.map { ShotName($0).stem } ?? own
        let isForeign = !NamingTemplate.suffix(of: theirs, after: own).isEmpty
        // Where one of theirs had to keep its stem, what is of it does, too: else it would look like another's.
        let kept = lead.path.name.stem.bytes + [UInt8(ascii: "_")] + theirs.bytes
        let leavesOwn = isForeign && !asset.resources.contains { $0.path.name.bytes.starts(with: kept) }
        let suffixes = names.map {
            NamingTemplate.suffix(of: $0, after: leavesOwn && collision == 0 ? theirs : own)
        }
        let number = leavesOwn ? max(0, collision - 1) : collision
        return template.paths(for: shot, suffixes: suffixes, collision: number, rules: rules).map {
            lead.path.parent / $0
        }
    }

    /// The same final paths with another number, when only the paths are left, as in recovery: `IMG_0001.CR2.xmp` and
    /// `IMG_0001.CR2` become `IMG_0001-2.CR2.xmp` and `IMG_0001-2.CR2`. The stem gives way where a name would grow
    /// beyond `longestName` bytes.
    static func renumbered(_ paths: [Path], try number: Int, longestName: Int = 255) -> [Path] {
        let shared = paths.map { Array($0.name.bytes) }.reduce(nil) { (shared: [UInt8]?, name) in
            guard let shared else { return name }
            return Array(zip(shared, name).prefix { $0 == $1 }.map(\.0))
        }
        guard var stem = shared else { return paths }
        if let dot = stem.firstIndex(of: UInt8(ascii: ".")), dot > 0 { stem = Array(stem[..<dot]) }
        let mark = Array("-\(number)".utf8)
        let rests = paths.map { $0.name.bytes.dropFirst(stem.count) }
        var kept = stem[...]
        // A library may take `.xmp` and `.XMP` for one; then a number for all leaves the two of them where they were.
        let lowered = { (bytes: [UInt8]) in bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } }
        let hasTwins = Set(rests.map { lowered(Array($0)) }).count < rests.count
        let room = max(1, longestName - mark.count - (rests.map(\.count).max() ?? 0) - (hasTwins ? 3 : 0))
        if kept.count > room {
            kept = kept.prefix(room)
            // Not in the middle of a UTF-8 character: its first byte goes with the ones that were cut.
            if stem[room] & 0xC0 == 0x80 {
                while let last = kept.popLast(), last & 0xC0 == 0x80 {}
            }
        }
        var taken: Set<[UInt8]> = []
        return zip(paths, rests).map { path, rest in
            var name = kept + mark + rest
            var twin = 2
            while !taken.insert(lowered(Array(name))).inserted {
                name = kept + mark + Array("-\(twin)".utf8) + rest
                twin += 1
            }
            return path.parent / Path(bytes: name)
        }
    }
}
