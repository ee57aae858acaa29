import Files
package import PhotoModel

/// Removes staging directories whose import is dead, and never one that is owned by a live import.
package struct Sweep {
    let library: Library
    let sweepAfter: Duration
    let now: @Sendable () -> Timestamp
    let log: Log

    package init(
        library: Library, sweepAfter: Duration, now: @escaping @Sendable () -> Timestamp, log: @escaping Log
    ) {
        self.library = library
        self.sweepAfter = sweepAfter
        self.now = now
        self.log = log
    }

    /// - Parameters:
    ///   - live: import ids that are in flight or wait for recovery; left alone. Of the others, empty directories go at
    ///     once (their files have been committed), the rest once it is older than `sweep_after`.
    /// - Returns: how many were removed.
    package func run(live: Set<String>) throws(Problem) -> Int {
        var names: [Path] = []
        try onLibrary(LibraryLayout.staging, doing: "list") { () throws(Errno) in
            try library.root.folder(at: LibraryLayout.staging).forEachEntry { name, _ throws(Errno) in
                names.append(name)
                return true
            }
        }
        var removed = 0
        for name in names where !live.contains(name.shown) {
            guard isDead(name) else { continue }
            try onLibrary(LibraryLayout.staging / name, doing: "sweep") { () throws(Errno) in
                try library.root.removeTree(LibraryLayout.staging / name)
            }
            removed += 1
            log(LogLine(.info, "A stale staging directory was removed.", [("IMPORT_ID", SafeText.of(name))]))
        }
        return removed
    }

    private func isDead(_ name: Path) -> Bool {
        do throws(Errno) {
            var isEmpty = true
            try library.root.folder(at: LibraryLayout.staging / name).forEachEntry { _, _ throws(Errno) in
                isEmpty = false
                return false
            }
            if isEmpty { return true }
            let status = try library.root.status(of: LibraryLayout.staging / name)
            return now() - Timestamp(nanoseconds: status.stamp.mtime) > sweepAfter
        } catch {
            return false  // gone or unreadable: nothing to decide, and the next sweep looks again
        }
    }
}
