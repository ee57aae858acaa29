import FakeService
import Glibc
import Testing

@Suite("The commands") struct CommandTests {
    static let reading = [
        ["jobs"], ["job", "1"], ["batches"], ["batch", "1"], ["assets"], ["show", "x"], ["retry", "1"],
        ["cancel", "1"],
        ["pause"], ["resume"], ["rescan"], ["reload"], ["import", "/x"], ["watch"],
    ]

    @Test(arguments: reading)
    func `exit with 69 when there is no service, and say how to start it`(words: [String]) throws {
        let result = try Program.run(words, socket: "/nonexistent/s")
        #expect(result.status == 69)
        #expect(result.output.isEmpty)
        #expect(result.errors.contains("systemctl start photospool"))
        let json = try Program.run(words + ["--json"], socket: "/nonexistent/s")
        #expect(json.status == 69)
        #expect(json.output.isEmpty)
        #expect(json.errors.hasPrefix("{\"code\":null,\"detail\":\"The photospool service is not running"))
        #expect(json.errors.contains("\"exit\":69"))
    }

    @Test(arguments: reading)
    func `exit with 77 when the service forbids it, and pass its advice on`(words: [String]) throws {
        let service = try FakeService { _ in
            .problem(403, "E_FORBIDDEN", "Only the group photospool may do that.", recovery: "Join it.")
        }
        defer { service.stop() }
        let result = try Program.run(words, socket: service.socket)
        #expect(result.status == 77)
        #expect(result.errors.contains("photospool: Only the group photospool may do that. (E_FORBIDDEN)\nJoin it.\n"))
    }

    @Test func `exit with 77 when the socket may not be opened, and name its group`() throws {
        guard geteuid() != 0 else {
            print("skipped: a socket without permission (root may open any)")
            return
        }
        let service = try FakeService { _ in .json("{}") }
        defer { service.stop() }
        #expect(unsafe chmod(service.socket, 0) == 0)
        let result = try Program.run(["jobs"], socket: service.socket)
        #expect(result.status == 77)
        #expect(result.errors.contains("usermod -aG "))
    }

    @Test func `list jobs as a table, page by page up to the limit`() throws {
        let service = try FakeService { request in
            let after = request.target.contains("after=c1")
            let first = (1...200).map { Canned.job(1000 - $0) }.joined(separator: ",")
            let rest = Canned.job(7, state: "imported", file: "b\\u001b[2Jad.jpg")
            return .json("{\"items\":[\(after ? rest : first)],\"next\":\(after ? "\"c2\"" : "\"c1\"")}")
        }
        defer { service.stop() }
        let result = try Program.run(
            ["jobs", "--state=failed", "--drop", "a b", "--batch=12", "--limit=201"], socket: service.socket)
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 202)
        #expect(lines[0] == "JOB  STATE     FILE              SIZE  DROP  BATCH  WHEN              WHY")
        #expect(lines[1] == "999  failed    IMG_0002.HEIC  3.4 MiB  card     12  2026-01-02 03:05  E_CORRUPT")
        #expect(lines[201] == "  7  imported  b\u{FFFD}[2Jad.jpg    3.4 MiB  card     12  2026-01-02 03:05")
        #expect(result.errors.contains("--limit N shows more"))
        #expect(
            service.requests.map(\.target) == [
                "/v1/jobs?state=failed&drop=a%20b&batch=12&limit=200",
                "/v1/jobs?state=failed&drop=a%20b&batch=12&limit=1&after=c1",
            ])
    }

    @Test func `show a job with what happened and what to do`() throws {
        let service = try FakeService { _ in .json(Canned.job(118)) }
        defer { service.stop() }
        let result = try Program.run(["job", "118"], socket: service.socket)
        #expect(service.requests.map(\.target) == ["/v1/jobs/118"])
        for text in [
            "● job 118 - failed", "/srv/drop/card/IMG_0002.HEIC (photo, 3.4 MiB)", "! Damaged file E_CORRUPT",
            "IMG_0002.HEIC ends too early.", "→ Copy it again.", "→ photospool retry 118", "Source: kept where it is",
        ] { #expect(result.output.contains(text), "\(text)") }
    }

    @Test func `retry several jobs, and go on past one that cannot be`() throws {
        let service = try FakeService { request in
            request.target == "/v1/jobs/2/retry"
                ? .problem(409, "E_CONFLICT", "Job 2 is not failed.", recovery: "")
                : .json(Canned.job(1, state: "queued"))
        }
        defer { service.stop() }
        let result = try Program.run(["retry", "1", "2", "3"], socket: service.socket)
        #expect(result.status == 1)
        #expect(service.requests.map { "\($0.method) \($0.target)" } == (1...3).map { "POST /v1/jobs/\($0)/retry" })
        #expect(result.output == "Job 1 is queued again.\nJob 3 is queued again.\n")
        #expect(result.errors.contains("Job 2 is not failed."))
    }

    @Test(arguments: ["--all", "--failed"])
    func `retry all that failed in one call`(option: String) throws {
        let service = try FakeService { _ in .json("{\"retried\":2}") }
        defer { service.stop() }
        let result = try Program.run(["retry", option], socket: service.socket)
        #expect(result.output == "2 jobs queued again.\n")
        #expect(service.requests.map(\.target) == ["/v1/retry"])
    }

    @Test func `cancel jobs and a batch, and tell what is rolled back first`() throws {
        let service = try FakeService { request in
            switch request.target {
            case "/v1/jobs/5/cancel": .json(Canned.job(5, state: "cancelled"))
            case "/v1/jobs/6/cancel": .json(Canned.job(6, state: "copying"), status: 202)
            default:
                .json(
                    """
                    {"id":12,"drop":"card","done":79,"total":80,"failed":0,"created_at":"","closed_at":null}
                    """)
            }
        }
        defer { service.stop() }
        #expect(
            try Program.run(["cancel", "5", "6"], socket: service.socket).output
                == "Job 5 is cancelled.\nJob 6 is being cancelled; its import is rolled back first.\n")
        let batch = try Program.run(["cancel", "--batch", "12"], socket: service.socket)
        #expect(batch.status == 0)
        #expect(batch.output.hasPrefix("Batch 12 is being cancelled"))
        #expect(service.requests.map(\.method) == ["POST", "POST", "POST"])
        #expect(service.requests.last?.target == "/v1/batches/12/cancel")
    }

    @Test func `ask for assets by day, hour and camera`() throws {
        let service = try FakeService { _ in .json("{\"items\":[],\"next\":null}") }
        defer { service.stop() }
        let result = try Program.run(
            ["assets", "--from", "2026-05-17", "--to=2026-05-17T09:30", "--camera", "EOS R5"], socket: service.socket)
        #expect(result.status == 0)
        #expect(result.output.isEmpty)
        #expect(
            service.requests.map(\.target) == [
                "/v1/assets?from=2026-05-17&to=2026-05-17T09%3A30%3A00&camera=EOS%20R5&limit=50"
            ])
    }

    @Test func `pause, and say what the service is now`() throws {
        let service = try FakeService { _ in .json("{\"state\":\"paused\",\"reasons\":[]}") }
        defer { service.stop() }
        #expect(try Program.run(["pause"], socket: service.socket).output == "The service is paused.\n")
        #expect(try Program.run(["-q", "pause"], socket: service.socket).output.isEmpty)
        #expect(service.requests.map(\.target) == ["/v1/pause", "/v1/pause"])
    }

    @Test func `rescan one drop folder by name`() throws {
        let service = try FakeService { _ in .json("{\"drops\":[\"card\"]}") }
        defer { service.stop() }
        #expect(try Program.run(["rescan", "card"], socket: service.socket).output == "Looking through card.\n")
        #expect(service.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["{\"drop\":\"card\"}"])
    }

    @Test func `refuse a bad configuration on reload with 78 and every fault`() throws {
        let faults = (1...2).map { Canned.error.replacing("IMG_0002", with: "fault \($0)") }.joined(separator: ",")
        let service = try FakeService { _ in
            .reply(
                422, type: "application/problem+json",
                body: """
                    {"status":422,"code":"E_CONFIG","title":"t","detail":"Two faults.","recovery":"Mend.",\
                    "errors":[\(faults)]}
                    """)
        }
        defer { service.stop() }
        let result = try Program.run(["reload"], socket: service.socket)
        #expect(result.status == 78)
        for text in ["Two faults.", "fault 1", "fault 2", "Mend."] { #expect(result.errors.contains(text)) }
    }

    @Test func `import by absolute paths, bytes kept, and fail for what is refused`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        #expect(unsafe symlink("/nowhere", folder + "/link") == 0)
        let service = try FakeService { _ in
            .json(
                """
                {"dry_run":true,"batch_id":null,"queued":3,"known":2,"groups":[{"files":[{"role":"photo",\
                "path":"/srv/a.jpg","size":2048,"outcome":"import","library_path":"2026/a.jpg"},{"role":"sidecar",\
                "path":"/srv/a.xmp","size":9,"outcome":"import","library_path":"2026/a.xmp",\
                "companion_of":"/srv/a.jpg"}],"joins":"01a","error":null},{"files":[{"role":"photo","path":"/srv/b.jpg",\
                "size":9,"outcome":"duplicate","same_as":"/srv/a.jpg"}],"error":null},{"files":[{"role":"photo",\
                "path":"/srv/c.jpg","size":9,"outcome":"refused"}],"error":\(Canned.error)}],"ignored":[{"path":\
                "/srv/x.bak","rule":"pattern","pattern":"*.bak"}],"refused":[{"path":"/etc/x","error":\(Canned.error)}]}
                """)
        }
        defer { service.stop() }
        let script = "cd \(folder) && \(quoted(Program.path)) import -n ./link b.jpg $(printf 'b\\361d')"
        try write(script, to: folder + "/run.sh")
        let output = try capture(
            "/bin/sh", ["-c", "PHOTOSPOOL_SOCKET=\(service.socket) sh \(folder)/run.sh 2>&1; echo rc $?"])
        for line in [
            "+  /srv/a.jpg  2.0 KiB  -> 2026/a.jpg, joins asset 01a\n",
            "+    /srv/a.xmp  9 B  -> 2026/a.xmp, sidecar of a.jpg, joins asset 01a\n",
            "=  /srv/b.jpg  9 B  same bytes as /srv/a.jpg\n", "-  /srv/c.jpg  9 B  refused\n",
            "   IMG_0002.HEIC ends too early. (E_CORRUPT)\n", ".  /srv/x.bak  ignored by the pattern *.bak\n",
            "1 shot would be imported, 1 duplicate, 1 refused. 2 files known already.",
        ] { #expect(output.contains(line), "\(line) in \(output)") }
        #expect(output.contains("photospool: /etc/x: IMG_0002.HEIC ends too early."))
        #expect(output.hasSuffix("rc 1\n"))
        let body = String(decoding: try #require(service.requests.first).body, as: UTF8.self)
        #expect(body.contains("\"dry_run\":true"))
        // The link itself is named, never what it leads to.
        #expect(body.contains("\"\(folder)/link\""))
        #expect(body.contains("\"\(folder)/b.jpg\""))
        // base64(1) of the bytes.
        let bytes = try capture("/bin/sh", ["-c", "printf \"\(folder)/b\\\\361d\" | base64 -w0"])
        #expect(body.contains("\"path_bytes\":\"\(bytes)\""))
    }

    @Test func `show an asset`() throws {
        let service = try FakeService { _ in
            .json(
                """
                {"id":"a/b","captured_at":"2026-05-17T09:04:31.87","captured_offset":"+02:00","date_source":"mtime",\
                "make":"Canon","model":"Canon EOS R5","lens":null,"latitude":-33.85678,"longitude":151.2153,"width":4032,\
                "height":3024,"content_identifier":null,"resources":[{"role":"photo","path":"2026/x.jpg",\
                "source_path":"/srv/drop/x.jpg","size":100,"sha256":"00ff","media_type":"image/jpeg"}],\
                "collection":"card","kind":"photo","preview":{"state":"failed","code":"E_ENCODE","path":null,\
                "width":null,"height":null},"renditions":[],"imported_at":"2026-05-18T00:00:00.000Z"}
                """)
        }
        defer { service.stop() }
        let result = try Program.run(["show", "a/b"], socket: service.socket)
        #expect(service.requests.map(\.target) == ["/v1/assets/a%2Fb"])
        for text in [
            "2026-05-17 09:04:31.87 +02:00 (only the file's own date is known)", "Camera: Canon EOS R5\n",
            "33.85678° S 151.21530° E", "4032x3024", "none (E_ENCODE)", "sha256 00ff",
        ] { #expect(result.output.contains(text), "\(text)") }
    }

    @Test func `say when something else answers at the socket`() throws {
        let service = try FakeService { _ in .reply(502, type: "text/html", body: "<html>") }
        defer { service.stop() }
        let result = try Program.run(["jobs"], socket: service.socket)
        #expect(result.status == 1)
        #expect(result.errors.contains("HTTP status 502"))
        let other = try FakeService { _ in .json("[]") }
        defer { other.stop() }
        #expect(try Program.run(["jobs"], socket: other.socket).errors.contains("could not be understood"))
    }
}
