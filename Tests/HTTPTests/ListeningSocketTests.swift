import CMicrohttpd
import Files
import Glibc
import PhotoModel
import Testing

@testable import HTTP

@Suite("The socket's file") struct ListeningSocketTests {
    private func status(_ path: Path) throws -> FileStatus? {
        let folder = try Folder(opening: path.parent)
        return try folder.contains(path.name) ? try folder.status(of: path.name) : nil
    }

    @Test func `has the mode and group it was given, and goes with its owner`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder / "s"
            do {
                let socket = try ListeningSocket(at: path, mode: 0o660, gid: getgid())
                let found = try #require(try status(path))
                #expect(found.mode == 0o660)
                #expect(found.gid == getgid())
                _ = consume socket
            }
            #expect(try status(path) == nil)
        }
    }

    @Test func `replaces what a dead process left`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder / "s"
            var address = sockaddr_un()
            let length = unsafe shim_unix_address(path.bytes, path.bytes.count, &address)
            let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            #expect(unsafe shim_bind(dead, &address, length) == 0)
            listen(dead, 1)
            close(dead)
            let before = try #require(try status(path))
            let socket = try ListeningSocket(at: path, mode: 0o600, gid: nil)
            _ = try RawClient(path)
            #expect(try status(path)?.kind == .other)
            #expect(before.kind == .other)
            _ = consume socket
        }
    }

    @Test func `is not taken from somebody who listens`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder / "s"
            let first = try ListeningSocket(at: path, mode: 0o600, gid: nil)
            let problem = #expect(throws: Problem.self) {
                _ = try ListeningSocket(at: path, mode: 0o600, gid: nil)
            }
            #expect(problem?.code == .locked)
            _ = try RawClient(path)
            _ = consume first
        }
    }

    @Test func `is never put over a file`() async throws {
        try await withTemporaryFolder { folder in
            let held = try Folder(opening: folder)
            let photo = try held.create(Path("s"), mode: 0o600)
            try photo.write(Array("photo".utf8))
            try photo.makeDurable()
            let problem = #expect(throws: Problem.self) {
                _ = try ListeningSocket(at: folder / "s", mode: 0o600, gid: nil)
            }
            #expect(problem?.code == .config)
            #expect(try status(folder / "s")?.stamp.size == 5)
        }
    }

    @Test func `that somebody else put in our place is left alone at the end`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder / "s"
            do {
                let first = try ListeningSocket(at: path, mode: 0o600, gid: nil)
                try Folder(opening: folder).unlink(Path("s"))
                let other = try Folder(opening: folder).create(Path("s"), mode: 0o600)
                _ = consume other
                _ = consume first
            }
            #expect(try status(path) != nil)
        }
    }

    @Test func `has a name of at most 107 bytes`() async throws {
        try await withTemporaryFolder { folder in
            let room = 107 - folder.bytes.count - 1
            _ = try ListeningSocket(at: folder / String(repeating: "s", count: room), mode: 0o600, gid: nil)
            #expect(throws: Problem.self) {
                _ = try ListeningSocket(at: folder / String(repeating: "s", count: room + 1), mode: 0o600, gid: nil)
            }
        }
    }

    @Test func `handed over is used and left, if it is a listening Unix socket`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder / "s"
            let original = try ListeningSocket(at: path, mode: 0o600, gid: nil)
            do {
                let socket = try ListeningSocket(handedOver: try original.descriptor.duplicate())
                _ = consume socket
            }
            #expect(try status(path) != nil)
            let other = Descriptor(adopting: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            #expect(throws: Problem.self) { _ = try ListeningSocket(handedOver: try other.duplicate()) }
            _ = consume original
        }
    }
}
