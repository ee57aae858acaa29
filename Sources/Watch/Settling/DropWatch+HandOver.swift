import Files
import PhotoModel

/// From settled files to groups.
extension DropWatch {
    /// Every file of the shot has settled: parts them into groups and puts those into the outbox. Sidecars without
    /// their photo stay behind.
    func handOver(_ shot: Shot, _ held: OpenFolder, at now: Moment) {
        let folder = absolute(shot.folder)
        for member in shot.members where member.isUntold { doubtEvents(member.name, in: shot.folder) }
        let problems = shot.members.map(fault(of:))
        let sound = shot.members.indices.filter { problems[$0] == nil }
        var leaving = Set<Path>()
        func give(_ members: [(Shot.Member, Role)], _ verdict: Problem?) {
            let files = members.map { member, role in
                SettledFile(
                    path: folder / member.name, role: role, filesystem: shot.folder.volume?.id ?? "",
                    stamp: member.settling.stamp)
            }
            context.outbox.add(SettledGroup(drop: settings.name, files: files, verdict: verdict))
            context.lastProgress = now
        }

        for (place, problem) in problems.enumerated() {
            guard let problem else { continue }
            let member = shot.members[place]
            give([(member, Grouping.groups(of: [member.name]).first?.first?.role ?? .photo)], problem)
            leaving.insert(member.name)
        }
        var orphans: [(Shot.Member, Role)] = []
        for group in Grouping.groups(of: sound.map { shot.members[$0].name }) {
            let members = group.map { (shot.members[sound[$0.index]], $0.role) }
            if Grouping.isOrphan(group), !isLate(shot, in: folder) {
                orphans += members
                continue
            }
            let isFiltered = Grouping.isFiltered(settings.kinds, names: members.map(\.0.name))
            give(members, isFiltered ? filtered(members[0].0.name) : nil)
            leaving.formUnion(members.map(\.0.name))
        }
        let isPatient = now < shot.lastChange + context.tuning.orphanWait
        if !orphans.isEmpty, !isPatient { give(orphans, orphaned(orphans[0].0.name)) }
        change(shot) { shot in
            let end = shot.lastChange + context.tuning.orphanWait
            shot.members.removeAll { leaving.contains($0.name) }
            shot.state = shot.members.isEmpty ? .over : isPatient ? .waiting : .orphaned
            shot.due = end
        }
    }

    /// What ends the file's way before it was looked into.
    private func fault(of member: Shot.Member) -> Problem? {
        let size = member.settling.stamp.size
        let name = SafeText.of(member.name)
        if size == 0 { return Problem(.empty, "\(name) is empty.") }
        if size > settings.maxFileSize.bytes {
            return Problem(
                .tooLarge,
                "\(name) has \(size) bytes; the drop folder \(settings.name) takes files of at most "
                    + "\(settings.maxFileSize.bytes).",
                todo: "Raise max_file_size of the drop folder, then retry the job.")
        }
        return nil
    }

    private func orphaned(_ name: Path) -> Problem {
        Problem(.orphan, "\(SafeText.of(name)) came without the photo it belongs to.")
    }

    private func filtered(_ name: Path) -> Problem {
        Problem(.filtered, "\(SafeText.of(name)) is of a kind that the drop folder \(settings.name) leaves alone.")
    }

    private func isLate(_ shot: Shot, in folder: Path) -> Bool {
        do throws(Problem) {
            return try context.door.knowsShot(settings.name, shot.folder.volume?.id ?? "", folder, shot.stem)
        } catch {
            report(error.code, error.whatHappened, todo: error.whatToDo)
            return false  // it waits, and is asked for again
        }
    }
}
