package import Foundation

/// Where the programs that belong to this test run lie, and running them.
package enum Programs {
    /// The build folder: the test bundle's own.
    package static let folder: URL = {
        if let named = ProcessInfo.processInfo.environment["PHOTOSPOOL_PROGRAMS"] { return URL(filePath: named) }
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
        return bundle?.deletingLastPathComponent()
            ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    }()

    package static func path(_ name: String) -> String { folder.appending(path: name).path }

    package struct Outcome: Sendable {
        package var status: Int32
        package var output: String
        package var errors: String
    }

    /// Runs a program to its end. Blocks its thread.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let folder = try TemporaryFolder()
        let files = try ["out", "err"].map { name in
            let url = folder.url.appending(path: name)
            _ = FileManager.default.createFile(atPath: url.path, contents: nil)
            return (url: url, handle: try FileHandle(forWritingTo: url))
        }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = files[0].handle
        process.standardError = files[1].handle
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try String(contentsOf: files[0].url, encoding: .utf8),
            errors: try String(contentsOf: files[1].url, encoding: .utf8))
    }

    /// The path of a tool that is not ours; nil when it is not installed.
    package static func tool(_ name: String) -> String? {
        let folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"]
        return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

/// A folder that goes when its owner goes.
package final class TemporaryFolder: Sendable {
    package let url: URL
    package var path: String { url.path }

    /// - Parameter base: a folder on the filesystem to be on; nil for the system's temporary one.
    package init(in base: String? = nil) throws {
        let base = base.map { URL(filePath: $0) } ?? FileManager.default.temporaryDirectory
        url = base.appending(path: "photospool-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        // What a test could not remove is the system's temporary folder's to clean up.
        try? FileManager.default.removeItem(at: url)
    }
}
