import Files
import PhotoModel
import Testing

@testable import photospool

@Suite("What figures mean to photospool doctor") struct FiguresTests {
    @Test(arguments: [
        (400, 1000, 1, Diagnosis.State.ok), (2, 1000, 1, .warning), (1, 1000, 1, .fault), (0, 1000, 0, .fault),
        (0, 1000, 1, .fault), (15, 1000, 1, .warning), (30, 1000, 1, .ok), (500, 20_000, 400, .ok),
    ])
    func `is room in the library, in GiB`(available: Int64, total: Int64, reserve: Int64, state: Diagnosis.State) {
        let found = Figures.space("x", available: available << 30, total: total << 30, reserve: reserve << 30)
        #expect(found.state == state, "\(found.detail)")
        #expect(found.recovery.isEmpty == (state == .ok))
    }

    @Test(arguments: [
        (1, true, 192_536, Diagnosis.State.ok), (8191, true, 8192, .warning), (8192, true, 8192, .fault),
        (200_000, false, 1 << 20, .ok), (200_000, false, 100_000, .fault),
    ])
    func `is folders against inotify's limit`(folders: Int, isWhole: Bool, limit: Int, state: Diagnosis.State) {
        let found = Figures.watches("x", folders: folders, isWhole: isWhole, limit: limit)
        #expect(found.state == state, "\(found.detail)")
        #expect(found.detail.hasPrefix("More than") == !isWhole)
    }

    @Test func `names a limit that is enough`() {
        let found = Figures.watches("x", folders: 50_000, isWhole: true, limit: 8192)
        #expect(found.recovery.contains("max_user_watches = 262144"))
    }

    @Test func `is inodes, the state's disk, and the year`() {
        #expect(Figures.inodes("x", available: 0, total: 0).state == .ok)
        #expect(Figures.inodes("x", available: 99, total: 1000).state == .fault)
        #expect(Figures.inodes("x", available: 5000, total: 1 << 20).state == .warning)
        #expect(Figures.stateSpace("x", available: 1 << 20, database: 0).state == .fault)
        #expect(Figures.stateSpace("x", available: 300 << 20, database: 1 << 30).state == .warning)
        #expect(Figures.stateSpace("x", available: 10 << 30, database: 1 << 30).state == .ok)
        #expect(Figures.year("x", 1970)?.state == .fault && Figures.year("x", 2027) == nil)
    }

    @Test func `is the limit of open files of a process`() {
        let text = """
            Limit                     Soft Limit           Hard Limit           Units
            Max cpu time              unlimited            unlimited            seconds
            Max open files            8192                 524288               files
            """
        #expect(Doctor.openFiles(text) == 8192)
        #expect(Doctor.openFiles("Max open files            unlimited  unlimited files") == Int(Int32.max))
        #expect(Doctor.openFiles("nothing") == nil)
    }
}

@Suite("What the decoder says of itself") struct DecoderWordsTests {
    @Test func `is a fault when an attempt was let through, which is named`() {
        let lines = ["exec: killed (SIGSYS)", "open: let through", "fork: refused: operation not permitted (EPERM)"]
        let found = Doctor.sandbox(lines + ["The sandbox does not hold."], status: 1, command: "d --self-test")
        #expect(found.state == .fault)
        #expect(found.detail == "The decoder's sandbox does not hold: open: let through.")
        #expect(Doctor.sandbox(lines, status: 0, command: "").detail.contains("all 3 attempts"))
        #expect(Doctor.sandbox([], status: 134, command: "").detail.contains("ended with 134"))
    }

    @Test func `is a warning when it lacks a format`() {
        let found = Doctor.formats("JPEG: yes\nHEIC: no\n")
        #expect(found.map(\.state) == [.ok, .warning])
        #expect(found.last?.detail.contains("cannot decode HEIC") == true)
        #expect(Doctor.formats("").map(\.state) == [.warning])
    }
}

@Suite("Who the service is") struct ServiceUserTests {
    @Test func `is read from its process`() throws {
        let text = "Name:\tphotospoold\nUid:\t998\t997\t997\t997\nGid:\t990\t991\t991\t991\nGroups:\t991 44 100 \n"
        let user = try #require(ServiceUser(processStatus: text))
        #expect(user.uid == 997 && user.gid == 991)
        #expect(user.isMember(of: 100) && user.isMember(of: 991) && !user.isMember(of: 990))
        #expect(ServiceUser(processStatus: "Name:\tx\n") == nil)
    }

    /// Root may everything, and would say so in the name of one who is not there.
    @Test func `may nothing that can be told when he does not exist`() {
        let user = ServiceUser(missing: "photospool")
        #expect(!user.isRoot && !user.isKnown && user.name == "photospool")
        guard case .unknown = user.may(4, Path("/")) else {
            Issue.record("it was told")
            return
        }
    }

    /// Owner, group, others; the first that fits decides, even when a later one gives more.
    @Test(
        arguments: [
            (0o700, 997, 1, true), (0o077, 997, 1, false), (0o070, 1, 991, true), (0o707, 1, 991, false),
            (0o005, 1, 1, true), (0o750, 1, 1, false),
        ] as [(UInt32, UInt32, UInt32, Bool)])
    func `decides what modes let him do`(mode: UInt32, owner: UInt32, group: UInt32, isAllowed: Bool) throws {
        let user = try #require(
            ServiceUser(processStatus: "Uid:\t997\t997\t997\t997\nGid:\t991\t991\t991\t991\nGroups:\t\n"))
        #expect(user.allows(5, mode: mode, owner: owner, group: group) == isAllowed)
    }
}

@Suite("A unit that is read") struct UnitTextTests {
    @Test func `has drop-ins that add, replace and take back`() {
        let unit = UnitText(
            """
            # /usr/lib/systemd/system/photospool.service
            [Unit]
            Type=oneshot
            [Service]
            Type=notify
            ExecStart=/usr/bin/photospoold --config "/etc/my photos.toml" \\
                # in between
                --state-dir=/srv/state
            ReadWritePaths=-/srv/photos -/srv/drop
            User = photospool
            AmbientCapabilities=CAP_LEASE
            # /etc/systemd/system/photospool.service.d/override.conf
            [Service]
            ReadWritePaths=/mnt/library
            Type=simple
            AmbientCapabilities=
            """)
        #expect(unit.value("Type") == "simple" && unit.value("User") == "photospool")
        #expect(unit.paths("ReadWritePaths") == ["/srv/photos", "/srv/drop", "/mnt/library"].map { Path($0) })
        #expect(unit.words("AmbientCapabilities").isEmpty)
        #expect(unit.argument("config") == "/etc/my photos.toml")
        #expect(unit.argument("state-dir") == "/srv/state")
        #expect(unit.program == Path("/usr/bin/photospoold"))
        #expect(unit.argument("once") == nil)
    }

    @Test(
        arguments: [
            ("30", 30.0), ("30s", 30), ("1min 30s", 90), ("500ms", 0.5), ("infinity", 0), ("0", 0), ("soon", nil),
        ] as [(String, Double?)])
    func `has spans of time`(text: String, seconds: Double?) {
        #expect(UnitCheck.seconds(text) == seconds)
    }

    @Test func `is what systemctl shows`() {
        #expect(
            Systemd.facts(in: "MainPID=12\nNeedDaemonReload=no\nResult=\n")
                == ["MainPID": "12", "NeedDaemonReload": "no", "Result": ""])
    }
}

@Suite("A unit that is compared with what the service needs") struct UnitCheckTests {
    /// The one that this version ships.
    static func shipped() throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        return try contents(of: root + "/systemd/photospool.service")
    }

    static let usual: [UnitCheck.Place] = [
        .init(what: "the state directory", path: Path("/var/lib/photospool"), isWritten: true),
        .init(what: "the library", path: Path("/srv/photos"), isWritten: true),
        .init(what: "the drop folder", path: Path("/srv/drop/card"), isWritten: true),
    ]

    @Test func `as it is shipped, has nothing to say of it`() throws {
        #expect(UnitCheck(unit: UnitText(try Self.shipped()), places: Self.usual).diagnoses == [])
        let lease = try Self.shipped() + "\nCapabilityBoundingSet=CAP_LEASE\nAmbientCapabilities=CAP_LEASE\n"
        #expect(UnitCheck(unit: UnitText(lease.replacing("[Install]", with: "[Service]")), places: []).diagnoses == [])
    }

    @Test(arguments: [
        ("Type=simple", "Type=simple", Diagnosis.State.fault), ("WatchdogSec=0", "no WatchdogSec", .warning),
        ("WatchdogSec=2s", "WatchdogSec=2s", .warning), ("Restart=no", "no Restart", .warning),
        ("User=root", "as root", .warning), ("ReadWritePaths=", "read-only for the service", .fault),
        ("InaccessiblePaths=/srv/drop", "hidden from the service by InaccessiblePaths", .fault),
        ("AmbientCapabilities=CAP_LEASE", "gives CAP_LEASE and takes it away", .warning),
        (
            "AmbientCapabilities=CAP_LEASE\nCapabilityBoundingSet=CAP_CHOWN", "gives CAP_LEASE and takes it away",
            .warning
        ),
    ])
    func `with one setting changed, names that`(setting: String, words: String, state: Diagnosis.State) throws {
        let unit = UnitText(try Self.shipped() + "\n[Service]\n\(setting)\n")
        let found = UnitCheck(unit: unit, places: Self.usual).diagnoses
        #expect(found.first?.state == state)
        #expect(found.first?.detail.contains(words) == true, "\(found)")
        #expect(found.allSatisfy { $0.check == "unit" && !$0.recovery.isEmpty })
    }

    @Test(
        arguments: [
            ("/mnt/library", true, "", "read-only"), ("/mnt/library", false, "", nil),
            ("/mnt/library", true, "ReadWritePaths=/mnt/library", nil), ("/home/a/in", false, "", "hidden"),
            ("/home/a/in", true, "ReadWritePaths=/home/a/in", "hidden"),
            ("/home/a/in", true, "ProtectHome=tmpfs\nBindPaths=/home/a/in", nil), ("/tmp/in", false, "", "hidden"),
            ("/srv/photography", true, "", "read-only"), ("/link/photos", true, "", nil),
        ] as [(String, Bool, String, String?)])
    func `knows which places it opens`(path: String, isWritten: Bool, more: String, words: String?) throws {
        let unit = UnitText(try Self.shipped() + "\n[Service]\n\(more)\n")
        let place = UnitCheck.Place(what: "the library", path: Path(path), isWritten: isWritten)
        let found = UnitCheck(unit: unit, places: [place]) { path in
            path.below(Path("/link")).map { Path("/srv") / $0 } ?? path
        }.diagnoses
        #expect(found.count == (words == nil ? 0 : 1), "\(found)")
        if let words { #expect(found.first?.detail.contains(words) == true, "\(found)") }
    }
}

@Suite("A place that cannot be opened") struct ClosedPlaceTests {
    @Test(arguments: [
        (Errno.accessDenied, Diagnosis.State.unknown), (.notPermitted, .unknown), (.io, .fault), (.stale, .fault),
    ])
    func `is a fault, unless it is only closed to this user`(errno: Errno, state: Diagnosis.State) {
        let found = Doctor.closed("library", "The library /srv/photos", errno)
        #expect(found.state == state && found.detail.contains(errno.name) && !found.recovery.isEmpty)
    }
}

@Suite("Another program that is asked") struct ToolTests {
    @Test func `gives what it printed and how it ended`() throws {
        let outcome = try Tool.run(Path("/bin/sh"), ["-c", "echo out; echo err >&2; exit 7"])
        #expect(outcome.status == 7 && outcome.output == "out\nerr\n")
        #expect(try Tool.run(Path("/bin/sh"), ["-c", "kill -TERM $$"]).status == 143)
    }

    @Test func `is ended with all it started when it takes too long`() throws {
        let start = ContinuousClock.now
        #expect(throws: Tool.Failure.self) {
            _ = try Tool.run(Path("/bin/sh"), ["-c", "sleep 60 & sleep 60"], limit: .milliseconds(100))
        }
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(throws: Tool.Failure.self) { _ = try Tool.run(Path("/nonexistent/program"), []) }
    }
}
