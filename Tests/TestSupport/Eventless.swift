package import Foundation

/// A folder shown once more on a filesystem that tells of nothing that is done behind it; `Tests/Rigs/eventless.py`.
package final class Eventless: @unchecked Sendable {
    // Used by the one test that owns it.
    /// What is written here appears at the mount point as if another machine had written it.
    package let back: URL
    private let point: URL
    private let options: [String]
    private var server: Process

    /// Says aloud that `what` is skipped where there is no FUSE, or no right to use it.
    package static func isPossible(for what: String) throws -> Bool {
        let outcome = try Programs.run(
            "/usr/bin/env", ["/usr/bin/python3", "-c", "import fusepy, os; os.open('/dev/fuse', os.O_RDWR)"])
        if outcome.status == 0, getuid() == 0 { return true }
        print("skipped: \(what) (needs root, /dev/fuse and python3-fusepy)")
        return false
    }

    /// - Parameters:
    ///   - foldsCase: names that differ in case, or in how an accent is composed, are one.
    ///   - hasShortNames: of at most 143 bytes.
    ///   - hasNamesOfWindows: and no others.
    package init(
        _ back: URL, at point: URL, foldsCase: Bool = false, hasShortNames: Bool = false,
        hasNamesOfWindows: Bool = false
    ) async throws {
        self.back = back
        self.point = point
        options = foldsCase ? ["--fold"] : hasShortNames ? ["--short"] : hasNamesOfWindows ? ["--windows"] : []
        try FileManager.default.createDirectory(at: back, withIntermediateDirectories: true)
        server = try Self.start(back, point, options)
        try await waitUntilMounted()
    }

    deinit { end() }

    private static func start(_ back: URL, _ point: URL, _ options: [String]) throws -> Process {
        let program = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Rigs/eventless.py")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [program.path, back.path, point.path] + options
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func waitUntilMounted() async throws {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let mounts = try String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)
            if mounts.contains("eventless \(point.path) ") { return }
            guard ContinuousClock.now < end, server.isRunning else {
                throw Installation.Failure("eventless.py did not mount \(point.path)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The server stands still, as one whose cable was pulled: every call waits.
    package func hang() { kill(server.processIdentifier, SIGSTOP) }

    package func goOn() { kill(server.processIdentifier, SIGCONT) }

    /// The server dies; what is mounted stays there and fails every call.
    package func die() {
        kill(server.processIdentifier, SIGKILL)
        server.waitUntilExit()
    }

    package func mountAgain() async throws {
        unmount()
        server = try Self.start(back, point, options)
        try await waitUntilMounted()
    }

    private func unmount() {
        // Not mounted any more when the test has seen to it.
        _ = try? Programs.run("/usr/bin/env", ["umount", "-l", point.path])
    }

    package func end() {
        die()
        unmount()
    }
}
