import Files
import PhotoModel

/// Files that were seen, until they are handed over.
extension DropWatch {
    /// How a file came to be seen.
    enum Sight {
        case event(wasWritten: Bool)
        /// The store does not know it.
        /// - shouldBeTold: whether an event must have told of it.
        case listing(shouldBeTold: Bool)
        /// It has to settle anew although it is known.
        case order
    }

    func notice(_ name: Path, in node: FolderNode, _ stamp: FileStamp, by sight: Sight, at now: Moment) {
        let shotName = ShotName(name)
        let shot = node.shots[shotName.stem]
        if let shot, let place = shot.members.firstIndex(where: { $0.name == name }) {
            noticeAgain(shot, place, stamp, by: sight, at: now)
            return
        }
        var member = Shot.Member(name: name, settling: Settling(stamp, at: now))
        switch sight {
        case .event(let wasWritten):
            if areKnown([(absolute(node) / name, stamp)], on: node.volume)[0] { return }
            // What joins a shot that is kept comes along with it.
            if shot == nil, context.isScanningAhead {
                leaveOut(in: node)
                return
            }
            // A close that comes with the first word of a file is a close all the same.
            member.settling.notice(stamp, wasWritten: wasWritten, at: now)
        case .listing(let shouldBeTold): member.isUntold = shouldBeTold
        case .order: break
        }
        context.lastProgress = now
        if let shot {
            change(shot) { shot in
                shot.members.append(member)
                if shot.state != .fresh { shot.state = .settling }
                shot.due = now + settleGap(node)
            }
        } else {
            let shot = Shot(shotName.stem, in: node, first: member, due: now + settleGap(node))
            node.shots[shotName.stem] = shot
            shot.state = .over  // not counted yet
            change(shot) { $0.state = .fresh }
        }
    }

    private func noticeAgain(_ shot: Shot, _ place: Int, _ stamp: FileStamp, by sight: Sight, at now: Moment) {
        let wasWritten =
            switch sight {
            case .event(let wasWritten): wasWritten
            case .listing: false
            case .order: true
            }
        switch sight {
        case .event, .order: shot.members[place].isUntold = false
        case .listing: break
        }
        guard wasWritten || stamp != shot.members[place].settling.stamp else { return }
        change(shot) { shot in
            shot.members[place].settling.notice(stamp, wasWritten: wasWritten, at: now)
            if shot.state != .fresh { shot.state = .settling }
            shot.failures = 0
            shot.due = now + settleGap(shot.folder)
        }
    }

    /// From the last change to the first look that can end the wait.
    private func settleGap(_ node: FolderNode) -> Duration {
        let settle = node.volume?.isRemote ?? false ? max(rules.settle, rules.unknownSettle) : rules.settle
        return max(settle, context.tuning.groupWait(of: settings))
    }

    /// - Parameter files: of one folder, with their absolute paths.
    func areKnown(_ files: [(path: Path, stamp: FileStamp)], on volume: Volume?) -> [Bool] {
        do throws(Problem) {
            let known = try context.door.areKnown(
                settings.name, volume?.id ?? "", files.map { ($0.path, $0.stamp.size, $0.stamp.mtime) })
            if known.count == files.count { return known }
        } catch {
            // The store leaves out what it knows when the group is handed over, so nothing is imported twice.
            report(error.code, error.whatHappened, todo: error.whatToDo)
        }
        return files.map { _ in false }
    }

    func remove(_ name: Path, from shot: Shot) {
        change(shot) { shot in
            shot.members.removeAll { $0.name == name }
            if shot.members.isEmpty { shot.state = .over }
        }
    }

    func removeVanished(from shot: Shot, _ held: OpenFolder) {
        for member in shot.members {
            do throws(Errno) { _ = try held.folder.status(of: member.name) } catch .noEntry {
                remove(member.name, from: shot)
            } catch {}  // whatever else it is, the file may still be there
        }
    }

    /// The time of `shot` has come: looks at its files, and hands over what has settled.
    func settle(_ shot: Shot, at now: Moment) {
        let held: OpenFolder
        do throws(Errno) { held = try open(shot.folder) } catch {
            fail(shot.folder, error)
            if shot.state != .over { lookLater(shot, at: now) }
            return
        }
        // Before this one no longer counts: with just enough found, each would wait for the others to go on.
        let isScanningAhead = context.isScanningAhead
        var until = Moment(nanoseconds: 0)
        var failure: (Path, Errno)?
        var gone: [Path] = []
        change(shot) { shot in
            if shot.state == .fresh { shot.state = .settling }
            for place in shot.members.indices {
                let name = shot.members[place].name
                switch FileLook(at: name, in: held.folder, on: shot.folder.volume) {
                case .gone: gone.append(name)
                case .failed(let error): failure = (name, error)
                case .file(let stamp, let writer):
                    if writer == .unknown { reportUnknownWriters() }
                    let outcome = shot.members[place].settling.look(stamp, writer: writer, at: now, by: rules)
                    if case .wait(let end) = outcome { until = max(until, end) }
                }
            }
            shot.members.removeAll { gone.contains($0.name) }
            if shot.members.isEmpty { shot.state = .over }
            // Scheduled anew below, when it is known for when.
            shot.due = .never
        }
        guard shot.state != .over else { return }
        if let (name, error) = failure {
            report(.sourceIO, "Could not look at \(SafeText.of(absolute(shot.folder) / name)): \(error).")
            lookLater(shot, at: now)
            return
        }
        until = max(until, shot.lastChange + context.tuning.groupWait(of: settings))
        // Another member may stand further on in a folder that is being listed. That counts as found ahead, and ends when
        // too much is: else nothing would ever go on.
        if until <= now, !isScanningAhead, shot.folder.mayHoldMore(of: shot.stem) {
            change(shot) { shot in
                shot.state = .fresh
                shot.due = now + max(rules.settle, .milliseconds(500))
            }
        } else if until > now {
            change(shot) { $0.due = until }
        } else {
            handOver(shot, held, at: now)
        }
    }

    /// In growing gaps, without end. Others are looked for meanwhile: it may be a folder that stays closed.
    private func lookLater(_ shot: Shot, at now: Moment) {
        change(shot) { shot in
            if shot.state == .fresh { shot.state = .settling }
            shot.due = now + min(.seconds(1) * (1 << Int(shot.failures)), .seconds(60))
            if shot.failures < 6 { shot.failures += 1 }
        }
    }
}
