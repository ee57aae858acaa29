import PhotoModel

/// What becomes of a job whose files are not one shot: each shot gets a job of its own, and so a commit, a name and a number
/// of its own. Nothing is decided twice, for a job's files are parted before anything of it is named.
///
/// A file of which nothing can be made does not keep its shot out: it ends by itself, with what is of it by name, and the
/// others are imported. Where nothing is left then that can be a shot, the job ends as a whole.
struct PartingStep {
    let job: Job
    let now: Timestamp

    /// - Parameters:
    ///   - staged: files of the job, with what is known of them; of the others only the names count.
    ///   - broken: what is wrong, by source.
    /// - Returns: whose turn it is first comes first, those that have ended last; nil when the files are one shot, or none
    ///   is left.
    func groups(
        _ staged: [StagedResource], _ inspections: [Inspection], broken: [Path: Problem] = [:]
    ) -> [SettledGroup]? {
        var seen: [Path: Parting.Member] = [:]
        for (file, inspection) in zip(staged, inspections) {
            seen[file.source] = Parting.Member(file, inspection, now: now)
        }
        let members = job.files.map { file in
            var member =
                seen[file.path]
                ?? Parting.Member(
                    name: file.path.name, isShot: DuplicateStep.shotRoles.contains(file.role), contentIdentifier: nil,
                    date: nil)
            member.isBroken = broken[file.path] != nil
            return member
        }
        let parts = Parting.parts(of: members)
        guard parts.count > 1 || broken.keys.contains(where: isCompanion) else { return nil }
        var groups = parts.flatMap { part in self.groups(of: part.map { job.files[$0] }, broken: broken) }
        // A companion that cannot be read keeps its shot out no more than a photo does.
        for file in job.files where isCompanion(file.path) {
            guard let problem = broken[file.path] else { continue }
            for place in groups.indices { groups[place].files.removeAll { $0.path == file.path } }
            groups.append(SettledGroup(drop: job.drop, files: [file], verdict: problem))
        }
        groups = groups.filter { !$0.files.isEmpty }
        let sound = groups.filter { $0.verdict == nil }
        guard groups.count > 1, sound.contains(where: hasShot) else { return nil }
        return sound + groups.filter { $0.verdict != nil }
    }

    /// Companions that came without their shots, those of one asset together.
    func groups(_ staged: [StagedResource], at homes: [Asset.ID?]) -> [SettledGroup] {
        var order: [Asset.ID?] = []
        for home in homes where !order.contains(home) { order.append(home) }
        return order.map { home in
            let sources = Set(zip(staged, homes).filter { $1 == home }.map(\.0.source))
            return SettledGroup(drop: job.drop, files: job.files.filter { sources.contains($0.path) })
        }
    }

    private func isCompanion(_ path: Path) -> Bool {
        job.files.contains { $0.path == path && !DuplicateStep.shotRoles.contains($0.role) }
    }

    private func hasShot(_ group: SettledGroup) -> Bool {
        group.files.contains { DuplicateStep.shotRoles.contains($0.role) }
    }

    /// With the roles that they have among themselves. By their names they are one group; were they several, none is lost.
    private func groups(of files: [SettledFile], broken: [Path: Problem]) -> [SettledGroup] {
        Grouping.groups(of: files.map(\.path.name)).map { group in
            let members = group.map { member in
                var file = files[member.index]
                file.role = member.role
                return file
            }
            let problem = members.filter { !isCompanion($0.path) }.compactMap { broken[$0.path] }.first
            return SettledGroup(drop: job.drop, files: members, verdict: problem)
        }
    }
}

extension Parting.Member {
    init(_ file: StagedResource, _ inspection: Inspection, now: Timestamp) {
        self.init(
            name: file.source.name, isShot: DuplicateStep.shotRoles.contains(file.role),
            contentIdentifier: inspection.facts.contentIdentifier, date: inspection.ownDate(now: now))
    }
}
