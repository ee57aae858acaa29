import FoundationEssentials
import Glibc
package import PhotoModel

/// What makes a directory a library, `.photospool/library.json`, or the mirror of one, `.photospool/mirror.json`. Without
/// it nothing is ever written there, so that a bare mount point is not taken for the disk that belongs on it. DESIGN
/// section 5.
///
/// A mirror's is a library's with an id of its own beside that of its library: renamed to `library.json` it makes a
/// library of the mirror.
package struct LibraryMarker: Hashable, Sendable {
    package enum Role: String, CaseIterable, Sendable {
        case library, mirror

        /// Relative to the library or mirror.
        package var path: Path { folder / (rawValue + ".json") }
    }

    /// Of the library: UUIDv7 as text; the state remembers it.
    package let id: String
    /// Of the mirror itself; nil for a library. The state remembers it too.
    package let mirrorID: String?
    /// RFC 3339.
    package let createdAt: String

    /// The service's own folder, relative to the library.
    package static let folder = Path(".photospool")
    /// Relative to the library.
    package static let path = Role.library.path

    /// Whether a folder is a library or a mirror, whosever: what lies there are originals and never sources.
    package static func isPresent(in folder: borrowing Folder) throws(Errno) -> Bool {
        for role in Role.allCases where try folder.contains(role.path) { return true }
        return false
    }

    /// What stands in the file. Fields may be added; a reader that does not know `format` leaves the library alone.
    private struct Body: Codable {
        static let format = 1
        var format: Int
        var id: String
        var mirrorID: String?
        var createdAt: String

        private enum CodingKeys: String, CodingKey {
            case format, id
            case mirrorID = "mirror_id"
            case createdAt = "created_at"
        }
    }

    /// - Parameter shown: the library's path, for the sentences.
    /// - Returns: nil when there is none.
    /// - Throws: `E_MARKER` for one that cannot be understood, or what reading it met.
    package static func read(
        _ role: Role = .library, in library: borrowing Folder, shown: Path
    ) throws(Problem) -> LibraryMarker? {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try library.openForReading(role.path).readAll(limit: 64 << 10)
        } catch .noEntry {
            return nil
        } catch .notRegularFile {
            throw damaged(role, shown, "it is not a file")
        } catch .loop {
            throw damaged(role, shown, "it is a symbolic link")
        } catch .fileTooLarge {
            throw damaged(role, shown, "it is too large")
        } catch {
            throw problem(shown / role.path, error, doing: "read")
        }
        let body: Body
        do {
            body = try JSONDecoder().decode(Body.self, from: Data(bytes))
        } catch {
            throw damaged(role, shown, "it is not the expected JSON")
        }
        guard body.format == Body.format else {
            throw Problem(
                .marker,
                "The marker of the \(role.rawValue) \(SafeText.of(shown)) has the format \(body.format), which this version"
                    + " does not know.", todo: "Update photospool on this machine.")
        }
        guard isID(body.id) else { throw damaged(role, shown, "its id is not a UUID") }
        if role == .library { return LibraryMarker(id: body.id.lowercased(), mirrorID: nil, createdAt: body.createdAt) }
        guard let own = body.mirrorID, isID(own) else { throw damaged(role, shown, "its mirror_id is not a UUID") }
        return LibraryMarker(id: body.id.lowercased(), mirrorID: own.lowercased(), createdAt: body.createdAt)
    }

    /// Makes `library` a library: the marker, durable, and the folders beside it. Returns the marker that stands there
    /// at the end, which is another's when two do this at once.
    ///
    /// Run as root, everything made belongs to whom the directory belongs to, because the service is not root.
    /// After a crash in between there is no marker, or a whole one.
    ///
    /// - Parameter original: the id of the library that it is to be a mirror of; nil makes a library.
    package static func create(
        in library: borrowing Folder, mirrorOf original: String? = nil, shown: Path, now: Timestamp
    ) throws(Problem) -> LibraryMarker {
        let role: Role = original == nil ? .library : .mirror
        let id = UUIDv7.make(
            milliseconds: UInt64(max(0, now.nanoseconds / 1_000_000)), random: randomBytes(10))
        let marker = LibraryMarker(id: original ?? id, mirrorID: original.map { _ in id }, createdAt: now.rfc3339)
        let temporary = folder / (role.path.name.shown + ".new-" + id)
        do throws(Errno) {
            let owner = try library.status()
            try library.makeFolders(at: folder, mode: 0o2750)
            for (name, mode) in [("staging", UInt32(0o700)), ("previews", 0o2750), ("journal", 0o700)] {
                try library.makeFolders(at: folder / name, mode: mode)
                try give(library.folder(at: folder / name).descriptor, to: owner)
            }
            let own = try library.folder(at: folder)
            try give(own.descriptor, to: owner)
            let file = try library.create(temporary, mode: 0o640)
            do throws(Errno) {
                try file.write(marker.bytes)
                try give(file.descriptor, to: owner)
                try file.makeDurable()
                try library.renameNoReplace(temporary, to: role.path, in: library)
            } catch {
                // Ours and of no use; a failure to remove it changes nothing about the one that is thrown.
                do throws(Errno) { try library.unlink(temporary) } catch _ {}  // the failure before it is told
                if error != .exists { throw error }
            }
            try own.sync()
        } catch {
            throw problem(shown, error, doing: "make a \(role.rawValue) of")
        }
        guard let standing = try read(role, in: library, shown: shown) else {
            throw Problem(
                .marker, "The marker of the \(role.rawValue) \(SafeText.of(shown)) vanished while it was made.")
        }
        return standing
    }

    /// Written by hand: the order of the fields is for people, and the values need no escapes.
    private var bytes: [UInt8] {
        let own = mirrorID.map { " \"mirror_id\": \"\($0)\"," } ?? ""
        return Array("{\"format\": \(Body.format), \"id\": \"\(id)\",\(own) \"created_at\": \"\(createdAt)\"}\n".utf8)
    }

    private static func isID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12] && text.allSatisfy { $0.isHexDigit || $0 == "-" }
    }

    private static func give(_ descriptor: borrowing Descriptor, to owner: FileStatus) throws(Errno) {
        guard geteuid() == 0 else { return }
        do throws(Errno) {
            try retryingInterrupted { fchown(descriptor.rawValue, owner.uid, owner.gid) }
        } catch .notPermitted {} catch .notSupported {} catch .invalid {}  // a filesystem that keeps no owners
    }

    private static func damaged(_ role: Role, _ library: Path, _ why: String) -> Problem {
        Problem(
            .marker, "The marker \(SafeText.of(library / role.path)) cannot be understood: \(why).",
            todo: role == .library
                ? "Put the marker back from a backup. Do not make a new one: the catalog knows the library by its id."
                : "Put the marker back from a backup, or remove it and run `photospool init --mirror --existing`.")
    }

    private static func problem(_ path: Path, _ errno: Errno, doing what: String) -> Problem {
        let code: Problem.Code =
            switch errno {
            case .noSpace, .quota: .libraryFull
            case .accessDenied, .notPermitted, .readOnly: .libraryPermission
            case .stale: .staleHandle
            default: .libraryIO
            }
        return Problem(code, "Could not \(what) \(SafeText.of(path)): \(errno.description).")
    }
}
