import Files
package import PhotoModel
package import Preview

/// What a naming template would give for files that lie anywhere: `photospool template`. It needs neither a library nor a
/// state, and writes nothing.
///
/// Files of one folder and stem are a shot, as in a drop folder. Shots are numbered from 1 in the order of their first
/// files, and one whose name an earlier one has is numbered behind its stem, as in a library that was empty before.
package struct TemplateTrial {
    package struct Named: Sendable {
        /// Absolute.
        package var source: Path
        /// Relative to a library; nil with a problem.
        package var path: Path?
        /// Of the whole shot.
        package var facts: Facts
        package var problem: Problem?
    }

    private let template: NamingTemplate
    private let drop: String
    private let now: Timestamp
    private let reading: SourceReading

    /// - Parameter drop: what `{drop}` stands for.
    package init(
        _ template: NamingTemplate, drop: String, decoders: DecoderPool, now: Timestamp, log: @escaping Log
    ) {
        self.template = template
        self.drop = drop
        self.now = now
        reading = SourceReading(decoders: decoders, isCancelled: { false }, log: log)
    }

    /// One answer a path, shot by shot.
    ///
    /// - Parameter paths: absolute.
    /// - Throws: when there is no decoder, or no memory for one: then nothing can be said of any file.
    package func run(_ paths: [Path]) throws(Problem) -> [Named] {
        var taken: Set<Path> = []
        var number: Int64 = 0
        var answers: [Named] = []
        for shot in Self.shots(paths) {
            number += 1
            do throws(ImportEnded) {
                let (files, facts) = try read(shot)
                let placement = Placement(
                    of: files, facts: facts, template: template, drop: drop, batch: 1, sequence: number,
                    id: "00000000-0000-7000-8000-" + padded(Int(number), 12))
                var collision = 0
                var names = placement.paths(collision: 0)
                while !taken.isDisjoint(with: names) {
                    collision += 1
                    names = placement.paths(collision: collision)
                }
                taken.formUnion(names)
                answers += zip(files, names).map { Named(source: $0.source, path: $1, facts: facts) }
            } catch {
                let problem = error.problem(of: shot[0].path)
                if problem.code.isOutage { throw problem }
                answers += shot.map { Named(source: $0.path, facts: Facts(), problem: problem) }
            }
        }
        return answers
    }

    private func read(
        _ shot: [(path: Path, role: Role)]
    ) throws(ImportEnded) -> (files: [StagedResource], facts: Facts) {
        var files: [StagedResource] = []
        var inspections: [Inspection] = []
        for (path, role) in shot {
            // Only the leading file's digest is ever asked for.
            let (file, inspection) = try reading.read(
                try Self.found(path, role), root: path.parent, hashing: template.uses(.sha) && files.isEmpty)
            files.append(file)
            inspections.append(inspection)
        }
        try InspectStep.checkKind(of: files[0], inspections[0])
        return (files, ShotFacts(files: files, inspections: inspections, now: now).facts)
    }

    private static func found(_ path: Path, _ role: Role) throws(ImportEnded) -> SettledFile {
        let (status, filesystem) = try onSource(path, doing: "look at") { () throws(Errno) in
            let folder = try Folder(opening: path.parent)
            return (try folder.status(of: path.name), try folder.filesystem().id)
        }
        guard status.kind == .regular else {
            throw ImportEnded(Problem(.badRequest, "\(SafeText.of(path)) is not a regular file.", todo: "Name files."))
        }
        return SettledFile(path: path, role: role, filesystem: filesystem, stamp: status.stamp)
    }

    /// As in a drop folder; a path that was given twice counts once.
    private static func shots(_ paths: [Path]) -> [[(path: Path, role: Role)]] {
        struct Key: Hashable {
            var folder: Path
            var stem: Path
        }
        var order: [Key] = []
        var files: [Key: [Path]] = [:]
        for path in paths {
            let key = Key(folder: path.parent, stem: ShotName(path.name).stem)
            if files[key] == nil { order.append(key) }
            if files[key]?.contains(path) != true { files[key, default: []].append(path) }
        }
        return order.flatMap { key in
            let found = files[key] ?? []
            return Grouping.groups(of: found.map(\.name)).map { group in
                group.map { (found[$0.index], $0.role) }
            }
        }
    }
}
