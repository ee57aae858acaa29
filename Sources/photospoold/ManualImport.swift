import Control
import Files
import Ingest
import PhotoModel
import Store

/// `photospool import PATH…`: files and folders that a person names are queued at once, as one batch, and kept.
///
/// Only what lies below a drop folder or an import root is taken; nothing else can be reached by asking. What was
/// written to a moment ago is refused as busy: here nobody waits for it to settle.
struct ManualImport {
    let settings: Settings
    let store: Store
    /// What becomes of shots; asked for a dry run only.
    let forecast: ([SettledGroup]) throws(Problem) -> [ImportForecast]

    /// The drop name of jobs that come from an import root.
    static let rootName = "import"
    /// A file this young may still be written to.
    static let youngest = Duration.seconds(2)
    static let mostFiles = 100_000

    private struct Found {
        var path: Path
        var stamp: FileStamp
    }

    /// What was found below one root.
    private struct Haul {
        var found: [Found] = []
        var refused: [(path: Path, problem: Problem)] = []
        var ignored: [IgnoredName] = []
        var isFull = false
    }

    /// Where a group's files all come from.
    private struct Origin: Hashable {
        var drop: String
        var filesystem: FilesystemID
    }

    func run(_ paths: [Path], isDryRun: Bool) throws(Problem) -> DaemonOrders.Imported {
        // Of all paths together: members of a shot may be named one by one, and a file together with its folder.
        var found: [Origin: [Path: FileStamp]] = [:]
        var refused: [(path: Path, problem: Problem)] = []
        var ignored: [IgnoredName] = []
        for path in paths {
            guard let (root, drop) = place(of: path) else {
                refused.append((path, outside(path)))
                continue
            }
            var haul = Haul()
            var filesystem: FilesystemID = ""
            do throws(Errno) {
                let folder = try Folder(opening: root)
                filesystem = try folder.filesystem().id
                let relative = path.below(root) ?? Path(bytes: [])
                try collect(relative, in: folder, root: root, rules: rules(drop), asNamed: true, into: &haul)
            } catch {
                refused.append((path, .source(path, error, doing: "look at")))
            }
            let origin = Origin(drop: drop?.name ?? Self.rootName, filesystem: filesystem)
            for file in haul.found { found[origin, default: [:]][file.path] = file.stamp }
            refused += haul.refused
            ignored += haul.ignored
            if haul.isFull {
                refused.append(
                    (
                        path,
                        Problem(
                            .tooBig, "\(SafeText.of(path)) holds more than \(Self.mostFiles) files.",
                            todo: "Import its folders one after the other.")
                    ))
            }
        }
        var groups: [SettledGroup] = []
        for (origin, files) in found {
            groups += try grouped(
                files.map { Found(path: $0.key, stamp: $0.value) }, drop: origin.drop, filesystem: origin.filesystem)
        }
        guard !isDryRun else { return try tried(groups, ignored: ignored, refused: refused) }
        return try queue(groups, refused: refused)
    }

    private func tried(
        _ groups: [SettledGroup], ignored: [IgnoredName], refused: [(path: Path, problem: Problem)]
    ) throws(Problem) -> DaemonOrders.Imported {
        // In the order of a batch.
        let sorted = groups.sorted { NaturalOrder.precedes($0.files[0].path, $1.files[0].path) }
        let forecasts = try forecast(sorted)
        var known = 0
        var queued = 0
        for shot in forecasts {
            let new = shot.files.count { if case .known = $0.outcome { false } else { true } }
            known += shot.files.count - new
            if new > 0 { queued += 1 }
        }
        return .init(
            batch: nil, queued: queued, known: known, groups: forecasts, ignored: ignored, refused: refused)
    }

    private func queue(
        _ groups: [SettledGroup], refused: [(path: Path, problem: Problem)]
    ) throws(Problem) -> DaemonOrders.Imported {
        var new: [SettledGroup] = []
        var known = 0
        for var group in groups {
            var unknown: [SettledFile] = []
            for file in group.files {
                let isKnown = try store.isKnown(
                    drop: group.drop, filesystem: file.filesystem, path: file.path, size: file.stamp.size,
                    mtime: file.stamp.mtime)
                if isKnown { known += 1 } else { unknown.append(file) }
            }
            group.files = unknown
            if !unknown.isEmpty { new.append(group) }
        }
        if new.isEmpty { return .init(batch: nil, queued: 0, known: known, refused: refused) }
        let now = SystemClock.now()
        let batch = try store.openManualBatch(at: now)
        let jobs = try store.enqueue(new, isManual: true, batch: batch, at: now)
        return .init(batch: batch, queued: jobs.count, known: known, refused: refused)
    }

    // MARK: Finding

    private func place(of path: Path) -> (root: Path, drop: DropFolder?)? {
        guard path.isAbsolute, !path.components.contains(Path("..")) else { return nil }
        if let drop = settings.drops.first(where: { path.below($0.path) != nil || path == $0.path }) {
            return (drop.path, drop)
        }
        let root = settings.control.importRoots.first { path.below($0) != nil || path == $0 }
        return root.map { ($0, nil) }
    }

    private func outside(_ path: Path) -> Problem {
        Problem(
            .forbidden, "\(SafeText.of(path)) lies in no drop folder and in no import root.",
            todo: "Copy it into a drop folder, or add its folder to control.import_roots.")
    }

    private func rules(_ drop: DropFolder?) -> IgnoreRules {
        drop.map { IgnoreRules(for: $0) } ?? IgnoreRules()
    }

    /// - Parameter asNamed: the path itself was asked for, so no rule ignores it.
    private func collect(
        _ relative: Path, in folder: borrowing Folder, root: Path, rules: IgnoreRules, asNamed: Bool,
        into haul: inout Haul
    ) throws(Errno) {
        let status = try folder.status(of: relative)
        switch status.kind {
        case .regular: take(root / relative, status.stamp, into: &haul)
        case .directory:
            var names: [(Path, Bool)] = []
            try folder.folder(at: relative).forEachEntry { name, kind throws(Errno) in
                if kind == .regular || kind == .directory { names.append((name, kind == .directory)) }
                return true
            }
            for (name, isFolder) in names {
                if haul.isFull { return }
                if let rule = rules.rule(for: name, in: relative, isFolder: isFolder) {
                    let path = root / relative / name
                    if haul.ignored.count < Self.mostFiles { haul.ignored.append(IgnoredName(path: path, rule: rule)) }
                    continue
                }
                do throws(Errno) {
                    try collect(relative / name, in: folder, root: root, rules: rules, asNamed: false, into: &haul)
                } catch {
                    haul.refused.append(
                        (root / relative / name, .source(root / relative / name, error, doing: "look at")))
                }
            }
        case .symlink, .other:
            guard asNamed else { return }
            haul.refused.append(
                (
                    root / relative,
                    Problem(.badRequest, "\(SafeText.of(root / relative)) is neither a file nor a folder.")
                ))
        }
    }

    private func take(_ path: Path, _ stamp: FileStamp, into haul: inout Haul) {
        if haul.found.count >= Self.mostFiles {
            haul.isFull = true
        } else if SystemClock.now() - Timestamp(nanoseconds: stamp.mtime) < Self.youngest {
            haul.refused.append(
                (
                    path,
                    Problem(
                        .sourceBusy, "\(SafeText.of(path)) was written to a moment ago and may not be complete.",
                        todo: "Import it again in a few seconds.")
                ))
        } else {
            haul.found.append(Found(path: path, stamp: stamp))
        }
    }

    /// Files of one folder and one stem travel together. Sidecars alone are orphans, unless their photo came before.
    private func grouped(
        _ found: [Found], drop: String, filesystem: FilesystemID
    ) throws(Problem) -> [SettledGroup] {
        struct Key: Hashable {
            var folder: Path
            var stem: Path
        }
        var shots: [Key: [Found]] = [:]
        for file in found {
            shots[Key(folder: file.path.parent, stem: ShotName(file.path.name).stem), default: []].append(file)
        }
        var groups: [SettledGroup] = []
        for (key, files) in shots {
            for members in Grouping.groups(of: files.map(\.path.name)) {
                var verdict: Problem?
                if Grouping.isOrphan(members) {
                    let isLate = try store.knowsShot(
                        drop: drop, filesystem: filesystem, folder: key.folder, stem: key.stem)
                    verdict = isLate ? nil : orphan(files[members[0].index].path)
                }
                let settled = members.map { member in
                    SettledFile(
                        path: files[member.index].path, role: member.role, filesystem: filesystem,
                        stamp: files[member.index].stamp)
                }
                groups.append(SettledGroup(drop: drop, files: settled, verdict: verdict))
            }
        }
        return groups
    }

    private func orphan(_ path: Path) -> Problem {
        Problem(.orphan, "\(SafeText.of(path)) belongs to a photo that is not there.")
    }
}
