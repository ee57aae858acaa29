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

    /// A disk that takes names that differ in case for one: ext4 with `casefold` on one of its folders, or vfat. Both are
    /// in a file beside `point`.
    ///
    /// - Returns: nil after saying aloud that `what` is skipped, where the kernel has no such filesystem, or no loop device.
    package static func foldingDisk(_ type: String, at point: URL, for what: String) throws -> Mount? {
        let image = point.path + ".img"
        let make =
            type == "vfat"
            ? "mkfs.vfat \"$0\" && mount -o loop \"$0\" \"$1\""
            : "mkfs.ext4 -q -O casefold -E encoding=utf8 \"$0\" && mount -o loop \"$0\" \"$1\" && rmdir \"$1\"/lost+found"
                + " && chattr +F \"$1\""
        let outcome = try Programs.run(
            "/bin/sh", ["-c", "PATH=$PATH:/sbin:/usr/sbin; truncate -s 64M \"$0\" && \(make)", image, point.path])
        if outcome.status == 0 { return Mount(adopting: point) }
        // Mounted, but not what was asked for.
        _ = try Programs.run("/bin/sh", ["-c", "umount \"$0\" 2>/dev/null; true", point.path])
        let why = outcome.errors.split(separator: "\n").first ?? ""
        print("skipped: \(what) on \(type) (\(why))")
        return nil
    }

    private init(adopting point: URL) { self.point = point }

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
