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
        let dead = try find(live: { () throws(Problem) in live })
        for path in dead {
            do throws(Problem) { try remove(path) } catch {
                if path.parent == LibraryLayout.staging { throw error }
                continue  // of previews: the next sweep looks again
            }
            log(LogLine(.info, "A stale staging directory was removed.", [("IMPORT_ID", SafeText.of(path.name))]))
        }
        return dead.count
    }

    /// The staging directories, relative to the library, that belong to no live import.
    /// - Parameters:
    ///   - live: asked once they were listed: an import that begins later has none of them.
    ///   - isDue: also those that are not older than `sweep_after`.
    package func find(
        live: () throws(Problem) -> Set<String>, whateverAge isDue: Bool = false
    ) throws(Problem) -> [Path] {
        var found: [Path] = []
        for place in [LibraryLayout.staging, LibraryLayout.previewStaging] {
            do throws(Errno) {
                try library.root.folder(at: place).forEachEntry { name, _ throws(Errno) in
                    found.append(place / name)
                    return true
                }
            } catch {
                // Previews have one only where they lie elsewhere, and trouble there is to hold up nothing else.
                guard place == LibraryLayout.staging else { continue }
                if error != .noEntry { throw .library(place, error, doing: "list") }
            }
        }
        let live = try live()
        return found.sorted().filter { !live.contains($0.name.shown) && (isDue || isDead($0)) }
    }

    /// Through its parent: nothing removes a tree through a mount, and previews may lie behind one.
    package func remove(_ path: Path) throws(Problem) {
        try onLibrary(path, doing: "sweep") { () throws(Errno) in
            try library.root.folder(at: path.parent).removeTree(path.name)
        }
    }

    private func isDead(_ path: Path) -> Bool {
        do throws(Errno) {
            var isEmpty = true
            try library.root.folder(at: path).forEachEntry { _, _ throws(Errno) in
                isEmpty = false
                return false
            }
            if isEmpty { return true }
            let status = try library.root.status(of: path)
            return now() - Timestamp(nanoseconds: status.stamp.mtime) > sweepAfter
        } catch {
            return false  // gone or unreadable: nothing to decide, and the next sweep looks again
        }
    }
}
