import FakeService
import Glibc
import Testing

@Suite("photospool status") struct StatusTests {
    @Test func `shows everything at a glance and exits with 0`() throws {
        let reason = """
            {"code":"E_LIBRARY_FULL","title":"Library is full","detail":"No space left.","recovery":"Free space.",\
            "transient":true}
            """
        let service = try FakeService { _ in
            .json(Canned.status(state: "degraded", importing: Canned.importing, reasons: reason))
        }
        defer { service.stop() }
        let result = try Program.run(["status"], socket: service.socket)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(
            result.output == """
                ● photospool 9.8.7 - degraded, up 1 d 2 h
                   Library: /srv/photos · 412 GiB free
                     Queue: 56 waiting · 1 importing · 1 to be tried again · 3.2 files/s · 40 MiB/s
                      Done: 1,204 imported · 3 duplicates · 2 failed
                     Batch: 12  ━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  23 of 80 · 2 failed
                 Importing: IMG_0023.HEIC  copying     ━━━━━╌╌╌╌╌╌╌╌╌╌╌  1.2 of 3.4 MiB
                     Drops: ● card  /srv/drop/card  12 folders watched · 3 arriving
                            ● nas   /mnt/nas        waiting until it is there

                ! Library is full E_LIBRARY_FULL
                  No space left.
                  → Free space.

                See what failed: photospool jobs --state failed

                """)
    }

    @Test(arguments: [
        (#"{"path":"/mnt/second","free_bytes":442381631488,"behind":0}"#, "/mnt/second · 412 GiB free · up to date"),
        (#"{"path":"/mnt/second","free_bytes":null,"behind":1200}"#, "/mnt/second · not there · 1,200 files behind"),
    ])
    func `shows the mirror where there is one`(mirror: String, line: String) throws {
        let body = Canned.status().replacing("\"drops\":", with: "\"mirror\":\(mirror),\"drops\":")
        let service = try FakeService { _ in .json(body) }
        defer { service.stop() }
        #expect(try Program.run(["status"], socket: service.socket).output.contains("    Mirror: \(line)\n"))
    }

    @Test func `is plain ASCII without a UTF-8 locale`() throws {
        let service = try FakeService { _ in .json(Canned.status(importing: Canned.importing)) }
        defer { service.stop() }
        let result = try Program.run(["status"], socket: service.socket, environment: ["LANG": "C"])
        #expect(result.output.utf8.allSatisfy { $0 < 0x80 })
        #expect(result.output.contains("12  [=====>                  ]  23 of 80, 2 failed"))
    }

    @Test func `is coloured only when asked, and NO_COLOR is obeyed`() throws {
        let service = try FakeService { _ in .json(Canned.status()) }
        defer { service.stop() }
        #expect(try !Program.run(["status"], socket: service.socket).output.contains("\u{1B}"))
        #expect(
            try Program.run(["--color=always", "status"], socket: service.socket).output
                .contains("\u{1B}[32mrunning\u{1B}[0m"))
        #expect(try !Program.run(["--color=never", "status"], socket: service.socket).output.contains("\u{1B}"))
    }

    @Test func `hands the service's JSON on untouched`() throws {
        let body = Canned.status().replacing("\"idle\"", with: "\"from_a_later_version\":[1.50,{}],\"idle\"")
        let service = try FakeService { _ in .json(body) }
        defer { service.stop() }
        let result = try Program.run(["status", "--json"], socket: service.socket)
        #expect(result.output == body + "\n")
    }

    @Test func `lets nothing steer the terminal`() throws {
        let evil = "\\u001b]0;x\\u0007\\u009b31m\\u202e"
        let body = Canned.status().replacing("/srv/photos", with: "/srv/" + evil).replacing(
            "\"card\"", with: "\"ca\(evil)\"")
        let raw = body.replacing("9.8.7", with: "9\u{9B}8\u{202E}7")
        let service = try FakeService { _ in .json(raw) }
        defer { service.stop() }
        for words in [["status"], ["status", "--json"]] {
            let output = try Program.run(words, socket: service.socket).output
            for scalar in output.unicodeScalars where scalar != "\n" {
                #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar.value != 0x202E)
            }
        }
    }

    @Test func `exits with 3 when the service is stopped, and says how to start it`() throws {
        let result = try Program.run(["status"], socket: "/nonexistent/s")
        #expect(result.status == 3)
        #expect(result.errors.isEmpty)
        #expect(result.output.contains("stopped"))
        #expect(result.output.contains("systemctl start photospool"))
        let json = try Program.run(["status", "--json"], socket: "/nonexistent/s")
        #expect(json.status == 3)
        #expect(json.output.contains("\"state\":\"stopped\""))
    }

    @Test func `exits with 4 when it cannot tell`() throws {
        let service = try FakeService { _ in .raw([], thenClose: true) }
        defer { service.stop() }
        let result = try Program.run(["status"], socket: service.socket)
        #expect(result.status == 4)
        #expect(result.output.contains("unknown"))
    }

    @Test func `finds the user's own socket, and asks no proxy`() throws {
        let service = try FakeService { _ in .json(Canned.status()) }
        defer { service.stop() }
        let runtime = try makeTemporaryFolder()
        defer { removeTree(runtime) }
        #expect(unsafe mkdir(runtime + "/photospool", 0o700) == 0)
        #expect(unsafe symlink(service.socket, runtime + "/photospool/control.sock") == 0)
        var environment = ["http_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"]
        // An ordinary user's runtime directory; root's own is the system's, so there the service manager's is set.
        environment["XDG_RUNTIME_DIR"] = runtime
        if geteuid() == 0 { environment["RUNTIME_DIRECTORY"] = runtime + "/photospool" }
        #expect(try Program.run(["status"], environment: environment).status == 0)
        #expect(service.requests.count == 1)
    }

    @Test func `ends without a word when nobody reads`() throws {
        let service = try FakeService { _ in .json(Canned.status()) }
        defer { service.stop() }
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        try write("\(quoted(Program.path)) status | true\n", to: folder + "/pipe.sh")
        let errors = try capture(
            "/bin/sh", ["-c", "PHOTOSPOOL_SOCKET=\(service.socket) /bin/sh \(folder)/pipe.sh 2>&1"])
        #expect(errors.isEmpty)
    }
}
