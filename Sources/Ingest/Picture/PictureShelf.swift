package import Files
import Glibc
package import PhotoModel
import Synchronization

/// Finished pictures on disk, as many as fit within a bound; those that nobody asked for longest go first.
///
/// Nothing here is ever missed: what cannot be written is not kept, and what is gone is made again. So nothing is made
/// durable, and a torn file cannot be told by its name: it is complete under its final one, or absent.
package final class PictureShelf: Sendable {
    private struct Entry {
        /// `<key>-<first 16 hex digits of its SHA-256>.jpg`: a tag that survives restarts.
        var name: String
        var tag: String
        var bytes: Int64
        var used: Int64
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var total: Int64 = 0
        var clock: Int64 = 0
        var number = 0
    }

    /// Bytes of the disk that are left to the queue and the catalog.
    private static let leftFree: Int64 = 128 << 20

    private let place: Path
    private let state: Mutex<State>
    private let limit: @Sendable () -> ByteCount
    private let log: Log

    /// - Parameters:
    ///   - place: absolute; made when it is not there.
    ///   - limit: asked for each picture; 0 keeps none.
    package init(at place: Path, limit: @escaping @Sendable () -> ByteCount, log: @escaping Log) {
        self.place = place
        self.limit = limit
        self.log = log
        state = Mutex(Self.found(at: place))
    }

    /// What a run before left, oldest first; what is half written goes.
    private static func found(at place: Path) -> State {
        var state = State()
        var files: [(name: String, stamp: FileStamp)] = []
        do throws(Errno) {
            try Folder(opening: place.parent).makeFolders(at: place.name, mode: 0o700)
            let folder = try Folder(opening: place)
            var names: [Path] = []
            try folder.forEachEntry { name, _ in
                names.append(name)
                return true
            }
            for name in names {
                let status = try folder.status(of: name)
                if status.kind == .regular, words(name.shown) != nil {
                    files.append((name.shown, status.stamp))
                } else {
                    try folder.unlink(name)
                }
            }
        } catch _ {}  // kept elsewhere, or by nobody: then every picture is made anew
        for (name, stamp) in files.sorted(by: { $0.stamp.mtime < $1.stamp.mtime }) {
            guard let (key, tag) = words(name) else { continue }
            state.clock += 1
            state.entries[key] = Entry(name: name, tag: tag, bytes: stamp.size, used: state.clock)
            state.total += stamp.size
        }
        return state
    }

    private static func words(_ name: String) -> (key: String, tag: String)? {
        guard name.hasSuffix(".jpg"), let dash = name.lastIndex(of: "-") else { return nil }
        let tag = String(name[name.index(after: dash)...].dropLast(4))
        return tag.count == 16 ? (String(name[..<dash]), tag) : nil
    }

    /// What is kept, in all.
    package var total: ByteCount { ByteCount(state.withLock { $0.total }) }

    /// nil when it is not kept.
    package func take(_ key: String) -> (file: OpenFile, size: Int64, tag: String)? {
        let entry = state.withLock { state in
            state.clock += 1
            state.entries[key]?.used = state.clock
            return state.entries[key]
        }
        guard let entry else { return nil }
        do throws(Errno) {
            let file = OpenFile(try Folder(opening: place).openForReading(Path(entry.name)))
            guard try file.descriptor.status().stamp.size == entry.bytes else { throw .noEntry }
            return (file, entry.bytes, entry.tag)
        } catch {
            forget(key)
            return nil
        }
    }

    /// A file of these bytes without a name, gone when it is closed: a client that reads slowly holds no memory.
    package func unnamed(_ bytes: [UInt8]) throws(Errno) -> OpenFile {
        let draft = draft()
        let folder = try Folder(opening: place)
        guard try folder.filesystem().availableBytes - Int64(bytes.count) >= Self.leftFree else { throw .noSpace }
        let file = try folder.create(draft, mode: 0o600)
        do throws(Errno) {
            try file.write(bytes)
            let reading = try folder.openForReading(draft)
            try folder.unlink(draft)
            return OpenFile(reading)
        } catch {
            do throws(Errno) { try folder.unlink(draft) } catch _ {}  // what failed is said; the next start tidies up
            throw error
        }
    }

    private func draft() -> Path {
        state.withLock { state in
            state.number += 1
            return Path("\(state.number).new")
        }
    }

    /// Keeps a picture, unless it or the disk is too full for it.
    package func put(_ bytes: [UInt8], tag: String, as key: String) {
        let limit = limit().bytes
        makeRoom(for: Int64(bytes.count), within: limit)
        guard bytes.count <= limit else { return }
        let (draft, name) = (draft(), key + "-" + tag + ".jpg")
        do throws(Errno) {
            let folder = try Folder(opening: place)
            guard try folder.filesystem().availableBytes - Int64(bytes.count) >= Self.leftFree else { throw .noSpace }
            do throws(Errno) {
                let file = try folder.create(draft, mode: 0o600)
                try file.write(bytes)
                _ = consume file
                try folder.renameReplacing(draft, to: Path(name), in: folder)
            } catch {
                do throws(Errno) { try folder.unlink(draft) } catch _ {}  // it may not have come to be
                throw error
            }
        } catch {
            log(LogLine(.warning, "A picture could not be kept: \(error.description).", [("PATH", SafeText.of(place))]))
            return
        }
        state.withLock { state in
            state.clock += 1
            state.total += Int64(bytes.count) - (state.entries[key]?.bytes ?? 0)
            state.entries[key] = Entry(name: name, tag: tag, bytes: Int64(bytes.count), used: state.clock)
        }
    }

    private func makeRoom(for bytes: Int64, within limit: Int64) {
        while true {
            let oldest = state.withLock { state in
                state.total + bytes > limit ? state.entries.min { $0.value.used < $1.value.used }?.key : nil
            }
            guard let oldest else { return }
            forget(oldest)
        }
    }

    private func forget(_ key: String) {
        let entry = state.withLock { state in
            let entry = state.entries.removeValue(forKey: key)
            state.total -= entry?.bytes ?? 0
            return entry
        }
        guard let entry else { return }
        do throws(Errno) { try Folder(opening: place).unlink(Path(entry.name)) } catch _ {}  // gone is what it is to be
    }
}
