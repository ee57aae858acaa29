package import ControlAPI
package import Foundation
package import HTTPClient
import PhotoModel

/// A photospool of its own: drop folder, library, state and socket in a temporary folder, and the real daemon on them.
package final class Installation: @unchecked Sendable {
    // Used from one test at a time; only the daemon's process changes, and only by the test that owns this.
    package let folder: TemporaryFolder
    package var daemon: Process?
    /// Another one looks for its decoders beside itself, too.
    package var program = Programs.path("photospoold")

    package var drop: URL { folder.url.appending(path: "drop") }
    package var library: URL { folder.url.appending(path: "library") }
    package var state: URL { folder.url.appending(path: "state") }
    package var configuration: URL { folder.url.appending(path: "photospool.toml") }
    package var socket: String { folder.path + "/s" }
    package var log: URL { folder.url.appending(path: "log") }

    /// - Parameters:
    ///   - dropKeys: lines of the `[[drop]]` table, as `after_import = "delete"`.
    ///   - reserveFree: `reserve_free`.
    ///   - more: further tables.
    package init(
        in base: String? = nil, dropKeys: String = "", libraryKeys: String = "", reserveFree: String = "0",
        more: String = ""
    ) throws {
        folder = try TemporaryFolder(in: base)
        for url in [drop, library, state] {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        }
        try """
        [library]
        path = "\(library.path)"
        reserve_free = "\(reserveFree)"
        \(libraryKeys)

        [[drop]]
        name = "test"
        path = "\(drop.path)"
        settle = "100ms"
        group_wait = "200ms"
        \(dropKeys)

        [control]
        socket = "\(socket)"

        \(more)
        """.write(to: configuration, atomically: true, encoding: .utf8)
    }

    deinit { kill() }

    // MARK: The daemon

    /// Starts it and waits until it answers.
    package func start(arguments: [String] = [], environment: [String: String] = [:]) async throws {
        try launch(arguments: arguments, environment: environment)
        try await wait(for: "the daemon to answer") {
            if let daemon, !daemon.isRunning { throw Failure("the daemon ended: \(logText)") }
            guard let state = try? status().state else { return false }  // not there yet
            return state != "starting"
        }
    }

    /// Starts it, and does not wait.
    package func launch(arguments: [String] = [], environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["--config", configuration.path, "--state-dir", state.path] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SWIFT_BACKTRACE": "enable=no"].merging(environment) { $1 }
        ) { $1 }
        if !FileManager.default.fileExists(atPath: log.path) {
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        }
        let handle = try FileHandle(forWritingTo: log)
        try handle.seekToEnd()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        daemon = process
    }

    /// SIGTERM; returns the exit code.
    @discardableResult package func stop() -> Int32 {
        guard let daemon else { return -1 }
        daemon.terminate()
        daemon.waitUntilExit()
        self.daemon = nil
        return daemon.terminationStatus
    }

    /// SIGKILL, as when the power goes for this process.
    package func kill() {
        guard let daemon else { return }
        if daemon.isRunning { Foundation.kill(daemon.processIdentifier, SIGKILL) }
        daemon.waitUntilExit()
        self.daemon = nil
    }

    package var logText: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    package struct Failure: Error, CustomStringConvertible {
        package var description: String
        package init(_ description: String) { self.description = description }
    }

    /// Polls, for want of an event from another process; gives up after two minutes.
    package func wait(for what: String, _ condition: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while try !condition() {
            guard ContinuousClock.now < end else { throw Failure("waited too long for \(what)\n\(logText)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until the daemon has nothing to do. A file dropped just before is seen: the status is asked until it has
    /// been idle three times over more than the settle time.
    package func waitUntilIdle() async throws {
        var calm = 0
        try await wait(for: "idle") {
            if let daemon, !daemon.isRunning { throw Failure("the daemon ended: \(logText)") }
            Thread.sleep(forTimeInterval: 0.08)
            calm = (try? status())?.idle == true ? calm + 1 : 0
            return calm >= 3
        }
    }

    // MARK: Asking

    package func get<Body: Decodable>(_ target: String, as type: Body.Type = Body.self) throws -> Body {
        var connection = try Connection(socket: Path(socket))
        let reply = try connection.send(HTTPRequest(.get, target))
        guard reply.isSuccess else {
            throw Failure("GET \(target): \(reply.status) \(String(decoding: reply.body, as: UTF8.self))")
        }
        return try JSON.decode(type, from: reply.body)
    }

    package func post(_ target: String, body: String? = nil) throws -> HTTPReply {
        var connection = try Connection(socket: Path(socket))
        return try connection.send(HTTPRequest(.post, target, body: body.map { Array($0.utf8) }))
    }

    package func request(_ method: HTTPRequest.Method, _ target: String) throws -> HTTPReply {
        var connection = try Connection(socket: Path(socket))
        return try connection.send(HTTPRequest(method, target))
    }

    package func status() throws -> StatusBody { try get("/v1/status") }

    package func jobs(_ query: String = "") throws -> [JobBody] { try all("/v1/jobs?limit=200" + query) }
    package func assets() throws -> [AssetBody] { try all("/v1/assets?limit=200") }

    private func all<Body: Codable & Hashable & Sendable>(_ target: String) throws -> [Body] {
        var items: [Body] = []
        var next: String?
        repeat {
            let page: ListBody<Body> = try get(target + (next.map { "&after=\($0)" } ?? ""))
            items += page.items
            next = page.next
        } while next != nil
        return items
    }

    // MARK: Looking

    /// Paths of the files a person sees in the library, sorted.
    package func visibleFiles() throws -> [String] {
        try files(below: library).filter { !$0.hasPrefix(".photospool/") }
    }

    package func stagedEntries() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: library.appending(path: ".photospool/staging").path)
    }

    package func files(below url: URL) throws -> [String] {
        var found: [String] = []
        let names = FileManager.default.enumerator(atPath: url.path)
        while let name = names?.nextObject() as? String {
            if names?.fileAttributes?[.type] as? FileAttributeType == .typeRegular { found.append(name) }
        }
        return found.sorted()
    }

    /// Copies a file into the drop folder under `name`, which may have folders.
    package func place(_ source: URL, as name: String) throws {
        let target = drop.appending(path: name)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: source, to: target)
    }
}
