import Files
import PhotoModel

/// One drop folder as it is watched: present or awaited, its tree of folders, and the files that have not settled.
final class DropWatch {
    let settings: DropFolder
    let context: WatchContext
    let ignoring: IgnoreRules
    let rules: Settling.Rules

    /// nil while the folder is absent.
    var root: FolderNode?
    /// Which directory `root` was when it was found.
    var rootStatus: FileStatus?
    /// Where the path led then, links resolved: what the mount table calls it.
    var realPath: Path
    var hasSaidWaiting = false
    var hasFinishedFirstScan = false

    /// Folders whose names are to be read, the last one first; urgent ones are new since the last scan.
    var pending: [FolderNode] = []
    var urgent: [FolderNode] = []
    /// Folders whose names are being read, the last one now.
    var listings: [Listing] = []
    var isFullScan = false
    var wantsFullScan = false

    var nextRootLook = Moment(nanoseconds: 0)
    var nextRescan = Moment.never
    var nextPoll = Moment.never

    var watches = 0
    /// How often something was read again because it may have been missed.
    var rescans = 0
    var polled = 0
    /// Files that settle, and files that wait for somebody else.
    var candidates = 0
    var waiting = 0
    /// Folders in which files are known to lie that nobody could keep yet.
    var behind = 0
    /// What is wrong now, by code; the faults of a full scan replace those of the one before.
    var reasons: [Problem.Code: Problem] = [:]
    var scanFaults: [Problem.Code: Problem] = [:]

    /// Folders held open during one turn, so that events of one folder do not open it for each file. Nothing is held
    /// between turns while nothing is to do: a card has to come off with umount(8).
    private var heldRoot: OpenFolder?
    private var held: (node: FolderNode, folder: OpenFolder)?

    init(_ settings: DropFolder, in context: WatchContext) {
        self.settings = settings
        self.context = context
        ignoring = IgnoreRules(for: settings)
        rules = context.tuning.rules(for: settings)
        realPath = settings.path
    }

    // MARK: Folders

    /// Holds a folder of the tree, reached from the root without following a link.
    func open(_ node: FolderNode) throws(Errno) -> OpenFolder {
        if let held, held.node === node { return held.folder }
        let root = try openRoot()
        let folder = node.parent == nil ? root : OpenFolder(try root.folder.folder(at: node.path))
        held = (node, folder)
        return folder
    }

    /// - Throws: ``Errno/stale`` when the path leads to another directory than it did.
    private func openRoot() throws(Errno) -> OpenFolder {
        if let heldRoot { return heldRoot }
        let folder = OpenFolder(try Folder(opening: settings.path))
        guard let rootStatus, try folder.folder.status().isSameFile(as: rootStatus) else { throw .stale }
        heldRoot = folder
        return folder
    }

    func letGo() {
        held = nil
        heldRoot = nil
    }

    /// The path of a folder as the queue knows it.
    func absolute(_ node: FolderNode) -> Path { settings.path / node.path }

    /// Forgets a folder and all below it: their watches, and the files that had not settled.
    func detach(_ node: FolderNode) {
        if let parent = node.parent, parent.children[node.name] === node { parent.children[node.name] = nil }
        if held?.node === node { held = nil }
        var rest = [node]
        while let next = rest.popLast() {
            rest += next.children.values
            unwatch(next)
            setPolled(next, false)
            setBehind(next, false)
            for shot in next.shots.values { change(shot) { $0.state = .over } }
            next.isolate()
        }
    }

    func setPolled(_ node: FolderNode, _ isPolled: Bool) {
        guard node.isPolled != isPolled else { return }
        node.isPolled = isPolled
        polled += isPolled ? 1 : -1
    }

    // MARK: Shots

    /// Every change to a shot's files or state goes through here, so that the counts stay right.
    func change(_ shot: Shot, _ body: (Shot) -> Void) {
        count(shot, -1)
        body(shot)
        count(shot, 1)
        if shot.state == .over {
            if shot.folder.shots[shot.stem] === shot { shot.folder.shots[shot.stem] = nil }
        } else if shot.state.isTimed {
            context.deadlines.heap.schedule(shot)
        }
    }

    private func count(_ shot: Shot, _ sign: Int) {
        let files = sign * shot.members.count
        switch shot.state {
        case .fresh:
            candidates += files
            context.freshFiles += files
        case .settling: candidates += files
        case .waiting, .orphaned: waiting += files
        case .over: break
        }
    }

    // MARK: Health

    func report(_ code: Problem.Code, _ sentence: String, todo: String? = nil, level: LogLevel = .warning) {
        let problem = Problem(code, sentence, todo: todo)
        // One line for each cause, however many files and folders it touches.
        let isNew = reasons[code] == nil && scanFaults[code] == nil
        if isFullScan { scanFaults[code] = scanFaults[code] ?? problem }
        reasons[code] = reasons[code] ?? problem
        if isNew { context.door.log(LogLine(level, problem, [("DROP", settings.name)])) }
    }

    func say(_ level: LogLevel, _ sentence: String, _ fields: [(String, String)] = []) {
        context.door.log(LogLine(level, sentence, [("DROP", settings.name)] + fields))
    }

    var health: DropHealth {
        var reasons = self.reasons.values.sorted { $0.code.rawValue < $1.code.rawValue }
        if let problem = context.outbox.problem { reasons.append(problem) }
        let isDegraded = reasons.contains { $0.code != .leaseUnknown }
        var health = DropHealth(
            name: settings.name, path: settings.path,
            mode: polled == 0
                ? (root == nil && settings.watch == .poll ? "poll" : "inotify") : watches == 0 ? "poll" : "mixed",
            health: reasons.contains { $0.code == .overlap }
                ? .degraded : root == nil ? .waiting : isDegraded ? .degraded : .ok, watches: watches,
            candidates: candidates + behind + context.outbox.fileCount(of: settings.name), waitingForOthers: waiting,
            hasFinishedFirstScan: hasFinishedFirstScan, reasons: reasons)
        health.polled = polled
        health.rescans = rescans
        return health
    }
}

/// A held folder that can be passed around.
final class OpenFolder {
    let folder: Folder
    init(_ folder: consuming Folder) { self.folder = folder }
}
