import Dispatch
import Files
import Glibc
import PhotoModel
import Testing

@testable import HTTP

/// A folder for the test alone, removed afterwards.
func withTemporaryFolder<Result>(_ body: (Path) async throws -> Result) async throws -> Result {
    var template = Array("/tmp/photospool-http-XXXXXX\0".utf8).map { CChar(bitPattern: $0) }
    guard unsafe mkdtemp(&template) != nil else { throw Errno.last }
    let path = Path(bytes: template.dropLast().map { UInt8(bitPattern: $0) })
    defer {
        do {
            let parent = try Folder(opening: path.parent)
            try parent.removeTree(path.name)
        } catch { Issue.record(error) }
    }
    return try await body(path)
}

/// A server on a socket of its own for as long as `body` runs.
func withServer<Result>(
    limits: HTTPServer.Limits = .init(), peer: (@Sendable (Int32) -> Peer?)? = nil,
    respond: @escaping @Sendable (Request) -> Reply, _ body: (Path, HTTPServer) async throws -> Result
) async throws -> Result {
    try await withTemporaryFolder { folder in
        let path = folder / "control.sock"
        let queue = DispatchQueue(label: "test.respond", attributes: .concurrent)
        let server = try HTTPServer(
            listening: try ListeningSocket(at: path, mode: 0o600, gid: nil), limits: limits,
            tooBig: Reply(status: 413, mediaType: "text/plain", Array("too big".utf8)),
            peer: peer ?? { try? Peer(of: $0) },  // no credentials: no peer
            dispatch: { _, work in queue.async(execute: work) }, log: { _ in }, respond: respond)
        defer { server.stop() }
        return try await body(path, server)
    }
}

func text(_ text: String) -> Reply { Reply(status: 200, mediaType: "text/plain", Array(text.utf8)) }

/// A handful of bytes that differ from their neighbours.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}

/// Names a closure, so that a call has only one without a name.
func answering(_ respond: @escaping @Sendable (Request) -> Reply) -> @Sendable (Request) -> Reply { respond }

/// Whoever connects is who `peer` says.
func everybody(_ peer: @escaping @Sendable () -> Peer) -> @Sendable (Int32) -> Peer? { { _ in peer() } }
