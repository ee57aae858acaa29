import Files
import Glibc
import PhotoModel
import Testing

@testable import HTTP

@Suite("A file as a reply", .timeLimit(.minutes(1))) struct FileReplyTests {
    /// Big enough that neither a socket nor one sendfile(2) holds it.
    private static let made = pattern(3_000_000)
    private var content: [UInt8] { Self.made }

    private func withFile(_ body: (RawClient) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let held = try Folder(opening: folder)
            let made = try held.create(Path("a.jpg"), mode: 0o600)
            try made.write(content)
            try made.makeDurable()
            let file = OpenFile(try held.openForReading(Path("a.jpg")))
            try await withServer(
                respond: answering { [content] request in
                    .file(file, size: Int64(content.count), mediaType: "image/jpeg", etag: "abc", for: request)
                }
            ) { path, _ in try body(try RawClient(path)) }
        }
    }

    @Test func `comes whole, with its type and tag`() async throws {
        try await withFile { client in
            let answer = try client.get("/")
            #expect(answer.status == 200)
            #expect(answer.body == content)
            #expect(answer.headers["content-type"] == "image/jpeg")
            #expect(answer.headers["etag"] == "\"abc\"")
            #expect(answer.headers["accept-ranges"] == "bytes")
            #expect(answer.headers["x-content-type-options"] == "nosniff")
        }
    }

    @Test func `is not sent to somebody who has it`() async throws {
        try await withFile { client in
            for tag in ["\"abc\"", "W/\"abc\"", "\"x\", \"abc\"", "*"] {
                let answer = try client.get("/", ["If-None-Match: " + tag])
                #expect(answer.status == 304)
                #expect(answer.headers["etag"] == "\"abc\"")
            }
            #expect(try client.get("/", ["If-None-Match: \"ab\""]).status == 200)
        }
    }

    @Test func `comes in parts that are the file's bytes`() async throws {
        try await withFile { client in
            let parts: [(String, ClosedRange<Int>)] = [
                ("0-0", 0...0), ("0-99", 0...99), ("1000000-", 1_000_000...2_999_999),
                ("-5", 2_999_995...2_999_999), ("2999999-9999999", 2_999_999...2_999_999),
            ]
            for (range, expected) in parts {
                let answer = try client.get("/", ["Range: bytes=" + range])
                #expect(answer.status == 206)
                #expect(
                    answer.headers["content-range"] == "bytes \(expected.lowerBound)-\(expected.upperBound)/3000000")
                #expect(answer.body == Array(content[expected]))
            }
            let beyond = try client.get("/", ["Range: bytes=3000000-"])
            #expect(beyond.status == 416)
            #expect(beyond.headers["content-range"] == "bytes */3000000")
        }
    }

    @Test func `comes whole when the part is of another version, or of a HEAD`() async throws {
        try await withFile { client in
            #expect(try client.get("/", ["Range: bytes=0-1", "If-Range: \"old\""]).status == 200)
            #expect(try client.get("/", ["Range: bytes=0-1", "If-Range: \"abc\""]).status == 206)
            let head = try client.get("/", ["Range: bytes=0-1"], method: "HEAD")
            #expect(head.status == 200)
            #expect(head.headers["content-length"] == "3000000")
        }
    }

    @Test(arguments: [
        ("bytes=0-4", ByteRange.part(0...4)), ("bytes=5-", .part(5...9)), ("bytes=-3", .part(7...9)),
        ("bytes=-30", .part(0...9)), ("bytes=9-9", .part(9...9)), ("bytes = 1 - 2", .part(1...2)),
        ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
        ("bytes=0-99999999999999999999", .part(0...9)), ("bytes=4-3", .whole), ("bytes=a-b", .whole),
        ("bytes=+1-2", .whole), ("bytes=--1", .whole), ("bytes=-", .whole), ("bytes=0-1,3-4", .whole),
        ("lines=0-1", .whole), ("", .whole),
    ])
    func `reads Range as RFC 9110 does`(header: String, expected: ByteRange) {
        #expect(ByteRange(header, of: 10) == expected)
    }

    @Test func `of no bytes has no range`() {
        #expect(ByteRange("bytes=0-", of: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-1", of: 0) == .unsatisfiable)
    }
}
