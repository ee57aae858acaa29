import Files
import Glibc
import PhotoModel
import Synchronization

@testable import Watch

/// A drop folder with a watcher on it, and the queue it hands over to.
final class Scene: Sendable {
    let base: Path
    let drop: Path
    let queue = Queue()
    private let watcher: Watcher
    private let thread: WatcherThread

    /// - Parameter prepare: runs before the watcher starts.
    init(
        tuning: WatchTuning = Scene.quick(), isPresent: Bool = true,
        settings change: (inout DropFolder) -> Void = { _ in },
        remotePlaces: @escaping @Sendable () -> RemotePlaces = RemotePlaces.now,
        prepare: (Path) throws -> Void = { _ in }
    ) throws {
        let place = Path(unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp")
        base = place / "watch-tests-\(lowercaseHex(randomBytes(8)))"
        drop = base / "drop"
        try make(base)
        if isPresent { try make(drop) }
        try prepare(drop)
        var settings = DropFolder(name: "card", path: drop)
        settings.settle = .milliseconds(60)
        settings.groupWait = .milliseconds(60)
        settings.pollInterval = .milliseconds(100)
        change(&settings)
        let queue = queue
        try make(base / "state")
        watcher = Watcher(
            drops: [settings], ownFolder: base / "state", door: queue.door, tuning: tuning, remotePlaces: remotePlaces)
        thread = WatcherThread(watcher)
    }

    /// Stops, waits for the thread, and removes everything.
    func end() {
        watcher.stop()
        thread.join()
        // What stays behind harms nobody; the next test has a name of its own.
        try? Folder(opening: base.parent).removeTree(base.name)
    }

    /// Waits for the thread without stopping it: a `once` life ends by itself.
    func join() { thread.join() }

    var health: DropHealth { watcher.health[0] }
    var allHealth: [DropHealth] { watcher.health }
    var progressMark: UInt64 { watcher.progressMark }
    func rescan() { watcher.rescan(nil) }
    func recheck(_ path: Path) { watcher.recheck(path) }
    func replaceDrops(_ drops: [DropFolder]) { watcher.replaceDrops(drops) }
    func waitForFirstScan() async throws { try await until("first scan") { self.health.hasFinishedFirstScan } }

    /// Waits for something the watcher does; fails after 20 s.
    func until(_ what: String, _ holds: @escaping () -> Bool) async throws {
        let end = Moment.now + .seconds(20)
        while !holds() {
            guard Moment.now < end else { throw TimedOut(what: what, seen: "\(queue.names) \(health)") }
            await queue.somethingHappens()
        }
    }

    /// Waits until so many files were handed over, then a little for any that are too many.
    func files(_ count: Int) async throws -> [String] {
        try await until("\(count) files") { self.queue.names.count >= count }
        return queue.names.sorted()
    }

    /// Makes a further file and waits for it: what came before it has then been dealt with.
    func fence() async throws {
        let name = "fence-\(lowercaseHex(randomBytes(4))).jpg"
        try write("fence", to: drop / name)
        try await until("the fence") { self.queue.allNames.contains(name) }
    }

    static func quick() -> WatchTuning {
        var tuning = WatchTuning()
        tuning.unknownSettle = .milliseconds(120)
        tuning.emptyWait = .milliseconds(300)
        tuning.orphanWait = .milliseconds(300)
        tuning.rootGap = .milliseconds(50)
        tuning.firstRetry = .milliseconds(30)
        tuning.oncePatience = .seconds(2)
        tuning.longestWait = .milliseconds(250)
        return tuning
    }

    static func quickOnce() -> WatchTuning {
        var tuning = quick()
        tuning.isOnce = true
        tuning.emptyWait = .zero
        tuning.orphanWait = .zero
        return tuning
    }
}

struct TimedOut: Error, CustomStringConvertible {
    let what: String
    let seen: String
    var description: String { "timed out waiting for \(what); seen: \(seen)" }
}

/// Stands for the store: remembers what was handed over, and knows it again.
final class Queue: Sendable {
    struct Known: Hashable {
        let path: Path
        let size: Int64
        let mtime: Int64
    }

    struct State {
        var groups: [SettledGroup] = []
        var known: Set<Known> = []
        var lookups = 0
        var calls: [Int] = []
        var lines: [LogLine] = []
        var problem: Problem?
        var stems: Set<String> = []
    }

    let state = Mutex(State())

    var door: Watcher.Door {
        Watcher.Door(
            areKnown: { [self] _, _, files throws(Problem) in
                state.withLock { state in
                    state.lookups += files.count
                    return files.map { state.known.contains(Known(path: $0.path, size: $0.size, mtime: $0.mtime)) }
                }
            },
            enqueue: { [self] groups throws(Problem) in
                let problem = state.withLock { state -> Problem? in
                    state.calls.append(groups.count)
                    if let problem = state.problem { return problem }
                    for group in groups {
                        for file in group.files {
                            state.known.insert(Known(path: file.path, size: file.stamp.size, mtime: file.stamp.mtime))
                        }
                    }
                    state.groups += groups
                    return nil
                }
                if let problem { throw problem }
            },
            knowsPath: { [self] _, _, path throws(Problem) in
                state.withLock { state in state.known.contains { $0.path == path } }
            },
            knowsShot: { [self] _, _, _, stem throws(Problem) in
                state.withLock { $0.stems.contains(stem.shown) }
            },
            objection: { _ in nil },
            log: { [self] line in state.withLock { $0.lines.append(line) } },
            changed: {})
    }

    var groups: [SettledGroup] {
        state.withLock { $0.groups }.filter { !$0.files[0].path.name.shown.hasPrefix("fence-") }
    }
    var files: [SettledFile] { groups.flatMap(\.files) }
    /// Names of all files handed over, fences left out.
    var names: [String] { files.map(\.path.name.shown) }
    var allNames: [String] { state.withLock { $0.groups }.flatMap(\.files).map(\.path.name.shown) }
    /// How many lines say `text`, as their sentence or as the detail of a problem.
    func lines(with text: String) -> Int {
        state.withLock { state in
            state.lines.filter { line in
                line.sentence.contains(text) || line.fields.contains { $0.0 == "DETAIL" && $0.1.contains(text) }
            }.count
        }
    }

    /// Gives the watcher's thread a moment: there is no event for "nothing happened yet".
    func somethingHappens() async {
        try? await Task.sleep(for: .milliseconds(3))  // cancelled: the time limit of the test ends it
    }
}

/// A thread for ``Watcher/run()``.
final class WatcherThread: Sendable {
    private final class Box {
        let watcher: Watcher
        init(_ watcher: Watcher) { self.watcher = watcher }
    }

    private let thread: pthread_t
    private let isJoined = Mutex(false)

    init(_ watcher: Watcher) {
        var thread = pthread_t()
        let box = unsafe Unmanaged.passRetained(Box(watcher))
        let code = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().watcher.run()
                return nil
            }, box.toOpaque())
        precondition(code == 0, "a test can have a thread")
        self.thread = thread
    }

    func join() {
        isJoined.withLock { isJoined in
            if !isJoined { pthread_join(thread, nil) }
            isJoined = true
        }
    }
}

// MARK: Files, made by plain calls so that nothing of ours is between the test and the kernel.

func check(_ code: Int32, _ what: String) throws {
    guard code >= 0 else { throw TimedOut(what: "\(what): \(Errno.last)", seen: "") }
}

func make(_ folder: Path) throws {
    try check(unsafe folder.withCString { unsafe mkdir($0, 0o755) }, "mkdir \(folder.shown)")
}

/// Opens for writing, and leaves it open.
func opened(_ path: Path, append: Bool = false) throws -> Descriptor {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC)
    let number = unsafe path.withCString { unsafe open($0, flags, 0o644) }
    try check(number, "open \(path.shown)")
    return Descriptor(adopting: number)
}

func write(_ text: String, to path: Path, append: Bool = false) throws {
    try opened(path, append: append).write(Array(text.utf8))
}

func move(_ from: Path, to: Path) throws {
    try check(unsafe from.withCString { from in unsafe to.withCString { unsafe rename(from, $0) } }, "rename")
}

func link(_ path: Path, to target: Path) throws {
    try check(unsafe path.withCString { path in unsafe target.withCString { unsafe symlink($0, path) } }, "symlink")
}

func remove(folder: Path) throws { try check(unsafe folder.withCString { unsafe rmdir($0) }, "rmdir") }
func remove(file: Path) throws { try check(unsafe file.withCString { unsafe unlink($0) }, "unlink") }

func bind(_ folder: Path, on path: Path) -> Bool {
    unsafe folder.withCString { folder in
        unsafe path.withCString { unsafe mount(folder, $0, nil, UInt(MS_BIND), nil) == 0 }
    }
}

func mountMemory(on path: Path) -> Bool {
    unsafe path.withCString { unsafe mount("none", $0, "tmpfs", 0, "size=64m") == 0 }
}

func unmount(_ path: Path, _ flags: Int32 = 0) throws {
    try check(unsafe path.withCString { unsafe umount2($0, flags) }, "umount")
}

/// Another process that works in the drop folder while the test does: a Python program, for its calls take held folders.
@safe struct Worker: ~Copyable {
    private let number: pid_t
    private let output: Int32

    init(_ program: String, _ arguments: [String]) throws {
        var ends: [Int32] = [-1, -1]
        try check(unsafe pipe(&ends), "pipe")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        var words = unsafe (["python3", "-c", program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for place in unsafe words.indices { unsafe free(words[place]) } }
        var number: pid_t = 0
        let code = unsafe posix_spawn(&number, "/usr/bin/python3", &actions, nil, &words, environ)
        _ = close(ends[1])
        guard code == 0 else {
            _ = close(ends[0])
            throw TimedOut(what: "python3: \(Errno(rawValue: code))", seen: "")
        }
        self.number = number
        output = ends[0]
    }

    /// Waits until it says something.
    func speaks() throws {
        var byte: UInt8 = 0
        guard unsafe read(output, &byte, 1) == 1 else { throw TimedOut(what: "the worker's word", seen: "its end") }
    }

    /// Waits for its end, which is to be a good one.
    consuming func join() throws {
        var status: Int32 = 0
        while unsafe waitpid(number, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw TimedOut(what: "a worker", seen: "it ended with \(status)") }
    }

    deinit { _ = close(output) }
}
