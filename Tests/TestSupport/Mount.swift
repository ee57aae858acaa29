package import Foundation

/// A small filesystem of its own, mounted for one test: to be full, to be read-only, to go away.
package final class Mount: Sendable {
    private let point: URL

    /// Says aloud that `what` is skipped where nothing can be mounted.
    package static func isPossible(for what: String) throws -> Bool {
        let folder = try TemporaryFolder()
        do {
            try Mount(at: folder.url, bytes: 1 << 20).end()
            return true
        } catch {
            print("skipped: \(what) (mounting takes root)")
            return false
        }
    }

    /// A tmpfs of that size.
    package init(at point: URL, bytes: Int) throws {
        self.point = point
        try Self.run(["mount", "-t", "tmpfs", "-o", "size=\(bytes),mode=0755", "tmpfs", point.path])
    }

    /// `folder` once more at `point`, where nobody can write.
    package init(readOnly folder: URL, at point: URL) throws {
        self.point = point
        try Self.run(["mount", "--bind", folder.path, point.path])
        try Self.run(["mount", "-o", "remount,bind,ro", point.path])
    }

    /// `folder` once more at `point`: one filesystem, and two mounts, between which nothing can be renamed.
    package init(again folder: URL, at point: URL) throws {
        self.point = point
        try Self.run(["mount", "--bind", folder.path, point.path])
    }

    /// An overlay: `lower`, seen at `point`; what is changed there lies in `changes`, an empty folder.
    package init(over lower: URL, changesIn changes: URL, at point: URL) throws {
        self.point = point
        let (upper, work) = (changes.appending(path: "upper"), changes.appending(path: "work"))
        for folder in [upper, work] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        let options = "lowerdir=\(lower.path),upperdir=\(upper.path),workdir=\(work.path)"
        try Self.run(["mount", "-t", "overlay", "-o", options, "overlay", point.path])
    }

    deinit {
        // Not there any more when the test ended it.
        try? Self.run(["umount", "-l", point.path])
    }

    /// As the kernel does it with a disk that fails, and an administrator afterwards.
    package func remount(readOnly: Bool) throws {
        try Self.run(["mount", "-o", "remount,\(readOnly ? "ro" : "rw")", point.path])
    }

    package func end() throws { try Self.run(["umount", point.path]) }

    private static func run(_ words: [String]) throws {
        let outcome = try Programs.run("/usr/bin/env", words)
        guard outcome.status == 0 else { throw Installation.Failure(outcome.errors) }
    }
}
