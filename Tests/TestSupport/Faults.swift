package import Foundation

/// Calls on files that fail, or at which the daemon dies, by `Tests/Rigs/faultlib.c`.
package enum Faults {
    /// The preloaded library, made once in a test run; nil where there is no C compiler.
    private static let library: Result<(path: String, folder: TemporaryFolder), any Error> = Result {
        guard let compiler = ["cc", "clang", "gcc"].lazy.compactMap(find).first else { throw Missing() }
        let source = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Rigs/faultlib.c")
        // LD_PRELOAD knows no path with a space or a colon in it.
        let usual = FileManager.default.temporaryDirectory.path
        let folder = try TemporaryFolder(in: usual.contains { $0 == " " || $0 == ":" } ? "/tmp" : nil)
        let path = folder.path + "/faultlib.so"
        let outcome = try Programs.run(
            compiler, ["-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", "-o", path, source.path, "-ldl"])
        guard outcome.status == 0 else { throw Installation.Failure("faultlib.c: \(outcome.errors)") }
        return (path, folder)
    }

    private struct Missing: Error {}

    private static func find(_ name: String) -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Says aloud that `what` is skipped where the library cannot be made.
    package static func arePossible(for what: String) throws -> Bool {
        do {
            _ = try library.get()
            return true
        } catch is Missing {
            print("skipped: \(what) (no C compiler)")
            return false
        }
    }

    /// The environment for a daemon that meets `rules`, as faultlib.c writes them.
    ///
    /// - Parameter trace: a file that is to list every call below `root`.
    package static func environment(
        _ rules: [String] = [], trace: URL? = nil, root: URL? = nil
    ) throws -> [String: String] {
        var environment = ["FAULTS": rules.joined(separator: ";")]
        if rules.isEmpty { environment = [:] }
        // Whatever is preloaded already (a sanitizer's helper) stays.
        let others = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { ":" + $0 } ?? ""
        environment["LD_PRELOAD"] = try library.get().path + others
        if let trace, let root {
            environment["FAULTS_TRACE"] = trace.path
            environment["FAULTS_ROOT"] = root.path
        }
        return environment
    }

    /// Whether these tests may take as long as it needs to try everything: `PHOTOSPOOL_SOAK` is set.
    package static var areExhaustive: Bool { ProcessInfo.processInfo.environment["PHOTOSPOOL_SOAK"] != nil }
}

extension Installation {
    /// Runs the daemon with `--once` to its end.
    ///
    /// - Returns: its exit code; nil when it was killed by a signal.
    package func runOnce(environment: [String: String] = [:]) throws -> Int32? {
        try launch(arguments: ["--once"], environment: environment)
        guard let daemon else { return nil }
        let end = ContinuousClock.now + .seconds(60)
        while daemon.isRunning {
            guard ContinuousClock.now < end else {
                kill()
                throw Failure("the daemon came to no end\n\(logText)")
            }
            Thread.sleep(forTimeInterval: 0.005)
        }
        self.daemon = nil
        return daemon.terminationReason == .exit ? daemon.terminationStatus : nil
    }

    /// Waits until a rule with STOP has made the daemon stand still; ``proceed()`` lets it go on.
    package func waitUntilStopped() async throws {
        let file = URL(filePath: "/proc/\(daemon?.processIdentifier ?? 0)/stat")
        try await wait(for: "the daemon to stand still") {
            // Behind the program's name, which may hold anything, comes the state; see proc(5).
            let text = try String(contentsOf: file, encoding: .utf8)
            return text[(text.lastIndex(of: ")") ?? text.startIndex)...].hasPrefix(") T")
        }
    }

    package func proceed() {
        if let daemon { Foundation.kill(daemon.processIdentifier, SIGCONT) }
    }
}

/// Gives each piece of a task a thread of its own. What blocks there takes none of the few that all tasks share from the
/// tests beside it, and still belongs to its test.
private final class OwnThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The group that made the task holds the executor until all of them are done.
        let executor = unsafe asUnownedTaskExecutor()
        Thread { unsafe job.runSynchronously(on: executor) }.start()
    }
}

/// Runs `body` for each input, each on a thread of its own, so many at a time.
package func onOwnThreads<Input: Sendable>(
    _ inputs: [Input], width: Int, _ body: @escaping @Sendable (Input) throws -> Void
) async throws {
    let executor = OwnThreads()
    try await withThrowingTaskGroup { group in
        var rest = inputs[...]
        for next in rest.prefix(width) { group.addTask(executorPreference: executor) { try body(next) } }
        rest = rest.dropFirst(width)
        while try await group.next() != nil {
            if let next = rest.popFirst() { group.addTask(executorPreference: executor) { try body(next) } }
        }
    }
}
