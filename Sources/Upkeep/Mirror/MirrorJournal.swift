import Files
import Ingest
import PhotoModel

/// Keeps whole copies of the library's journal on the mirror, so that a library can be made of it.
struct MirrorJournal {
    let library: Library
    let mirror: Library
    let isStopping: () -> Bool

    /// What was copied, by name.
    typealias Copied = [Path: FileStamp]

    private static let staged = LibraryLayout.staging / "journal"

    /// The files of the library's journal as they are.
    static func present(in library: Library) throws(Problem) -> Copied {
        var found: Copied = [:]
        do throws(Errno) {
            let folder = try library.root.folder(at: LibraryLayout.journal)
            try folder.forEachEntry { name, kind throws(Errno) in
                if kind == .regular, name.lowercaseExtension == "jsonl" {
                    found[name] = try folder.status(of: name).stamp
                }
                return true
            }
        } catch {
            throw .library(LibraryLayout.journal, error, doing: "list")
        }
        return found
    }

    /// Copies what changed.
    /// - Returns: a problem with one that was left alone.
    func run(_ present: Copied, since copied: inout Copied) throws(MirrorEnded) -> Problem? {
        var problem: Problem?
        for name in present.keys.sorted() where copied[name] != present[name] {
            if isStopping() { throw .stopping }
            if let found = try copy(name) { problem = found } else { copied[name] = present[name] }
        }
        return problem
    }

    private func copy(_ name: Path) throws(MirrorEnded) -> Problem? {
        let path = LibraryLayout.journal / name
        let source: Descriptor
        do throws(Errno) { source = try library.root.openForReading(path) } catch {
            throw .elsewhere(.library(path, error, doing: "read"))
        }
        let size: Int64
        do throws(Errno) { size = try source.status().stamp.size } catch {
            throw .elsewhere(.library(path, error, doing: "look at"))
        }
        switch try standing(path, against: source, size: size) {
        case .none: break
        case .same: return nil
        case .older: break
        case .other:
            return Problem(
                .conflict,
                "\(SafeText.of(mirror.path / path)) holds other lines than the library's journal; it was left alone.",
                todo: "Compare the two; one of them is damaged. Move the mirror's away to have the library's copied.")
        }
        discard()
        defer { discard() }
        do throws(CopyFailure) {
            let content = try write(source, size: size)
            let file: Descriptor
            do throws(Errno) { file = try mirror.root.openForReading(Self.staged) } catch { throw .destination(error) }
            guard try readBack(file, isCancelled: isStopping) == content else { throw .destination(.io) }
        } catch {
            switch error {
            case .cancelled: throw .stopping
            case .source(let errno): throw .elsewhere(.library(path, errno, doing: "read"))
            case .destination(let errno): throw .mirror(.library(path, errno, doing: "write", in: .mirror))
            }
        }
        try ofMirror { () throws(Problem) in try mirror.check() }
        try onMirror(path, doing: "name") { () throws(Errno) in
            try mirror.root.renameReplacing(Self.staged, to: path, in: mirror.root)
            try mirror.root.folder(at: LibraryLayout.journal).sync()
        }
        return nil
    }

    private func write(_ source: borrowing Descriptor, size: Int64) throws(CopyFailure) -> Content {
        let file: StagedFile
        do throws(Errno) { file = try mirror.root.create(Self.staged, mode: 0o640) } catch { throw .destination(error) }
        let content = try Files.copy(from: source, to: file, size: size, isCancelled: isStopping)
        do throws(Errno) { try file.makeDurable() } catch { throw .destination(error) }
        return content
    }

    private enum Standing { case none, same, older, other }

    /// A journal only grows: what the mirror has is its beginning, or one of the two is damaged.
    private func standing(
        _ path: Path, against source: borrowing Descriptor, size: Int64
    ) throws(MirrorEnded) -> Standing {
        do throws(Errno) {
            let copy = try mirror.root.openForReading(path)
            let length = try copy.status().stamp.size
            if length > size { return .other }
            let piece = 1 << 20
            var offset: Int64 = 0
            while offset < length {
                let count = min(piece, Int(length - offset))
                guard try copy.readBytes(count: count, at: offset) == source.readBytes(count: count, at: offset) else {
                    return .other
                }
                offset += Int64(count)
            }
            return length == size ? .same : .older
        } catch .noEntry {
            return .none
        } catch {
            throw .mirror(.library(path, error, doing: "read", in: .mirror))
        }
    }

    private func discard() {
        do throws(Errno) { try mirror.root.unlink(Self.staged) } catch _ {}  // none, or it has its name
    }
}
