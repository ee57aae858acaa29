import ControlAPI
import Foundation
import HTTPClient
import TestSupport
import Testing

/// The real client, on an installation that is sound, and then broken in one place.
@Suite("photospool doctor", .tags(.saysWhatIsWrong)) struct DoctorTests {
    private struct Line: Decodable, Hashable {
        var check: String
        var state: String
        var detail: String
        var recovery: String
    }

    private struct Report {
        var status: Int32
        var lines: [Line]
        var faults: [Line] { lines.filter { $0.state == "fault" } }
        func states(_ check: String) -> [String] { lines.filter { $0.check == check }.map(\.state) }
    }

    private func ask(_ installation: Installation, program: String? = nil, before: [String] = []) throws -> Report {
        let words =
            before + [
                program ?? Programs.path("photospool"), "doctor", "--json", "--config", installation.configuration.path,
                "--state-dir", installation.state.path,
            ]
        let outcome = try Programs.run("/usr/bin/env", words)
        let lines = try JSONDecoder().decode([Line].self, from: Data(outcome.output.utf8))
        for line in lines {
            #expect(["ok", "warning", "fault", "unknown"].contains(line.state))
            #expect(!line.detail.isEmpty)
            if line.state == "fault" || line.state == "warning" { #expect(!line.recovery.isEmpty, "\(line)") }
            if line.state == "ok" { #expect(line.recovery.isEmpty, "\(line)") }
        }
        #expect(outcome.status == (lines.contains { $0.state == "fault" } ? 1 : 0), "\(outcome)")
        return Report(status: outcome.status, lines: lines)
    }

    /// Stopped again, with a library, a state and a photo.
    private func sound(dropKeys: String = "") throws -> Installation {
        let installation = try Installation(dropKeys: dropKeys)
        try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: installation.state.path)
        try Samples.variant(1).write(to: installation.drop.appending(path: "IMG_1.JPG"))
        #expect(try installation.runOnce() == 0)
        return installation
    }

    /// Every name with its bytes.
    private func everything(in installation: Installation) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for name in try installation.files(below: installation.folder.url) {
            found[name] = try Data(contentsOf: installation.folder.url.appending(path: name))
        }
        return found
    }

    private func expect(
        _ check: String, _ words: String, in report: Report, _ place: SourceLocation = #_sourceLocation
    ) {
        #expect(report.status == 1, sourceLocation: place)
        let found = report.faults.first { $0.check == check && $0.detail.contains(words) }
        #expect(found != nil, "\(report.faults)", sourceLocation: place)
        #expect(found?.recovery.isEmpty == false, sourceLocation: place)
    }

    // MARK: The mirror

    @Test(.timeLimit(.minutes(2)))
    func `looks at the mirror: whose it is, where it lies, how far behind; its absence is no fault`() async throws {
        let scene = try Mirrored()
        let installation = scene.installation
        try FileManager.default.setAttributes([.posixPermissions: 0o750], ofItemAtPath: installation.state.path)
        try scene.drop([1])
        #expect(try installation.runOnce() == 0)
        try await installation.start()
        try await scene.waitUntilEven()
        let sound = try ask(installation)
        #expect(sound.faults == [])
        for check in ["mirror", "mirror.access", "mirror.behind"] { #expect(sound.states(check) == ["ok"]) }
        #expect(sound.states("mirror.filesystem") == ["warning"])
        #expect(sound.lines.contains { $0.detail.contains("lies on the library's own filesystem") })
        let away = installation.folder.url.appending(path: "away")
        try scene.move(scene.mirror, to: away)
        try scene.drop([2])
        _ = try await scene.waitForReason("E_LIBRARY_OFFLINE")
        try await installation.waitUntilIdle()
        let absent = try ask(installation)
        #expect(absent.states("mirror") == ["warning"] && absent.states("mirror.behind") == ["warning"])
        #expect(absent.lines.contains { $0.detail == "The mirror is 1 file behind." })
        #expect(installation.stop() == 0)
        try FileManager.default.createDirectory(at: scene.mirror, withIntermediateDirectories: true)
        expect("mirror", "has no marker", in: try ask(installation))
        let other = try Mirrored()
        #expect(try other.installation.runOnce() == 0)
        try FileManager.default.removeItem(at: scene.mirror)
        try scene.move(other.mirror, to: scene.mirror)
        expect("mirror", "mirror of another library", in: try ask(installation))
    }

    // MARK: Sound

    @Test(.timeLimit(.minutes(2)))
    func `finds no fault in a sound installation that is stopped, changes nothing, and says how to start it`() throws {
        let installation = try sound()
        let before = try everything(in: installation)
        let report = try ask(installation)
        #expect(report.faults == [])
        #expect(report.status == 0)
        for check in [
            "configuration", "overlap", "programs", "decoder", "library", "state", "state.database", "drop.test",
        ] {
            #expect(report.states(check) == ["ok"], "\(check): \(report.lines.filter { $0.check == check })")
        }
        let service = report.lines.first { $0.check == "service" }
        #expect(service?.state == "warning")
        #expect(service?.recovery == "Start it with: systemctl start photospool")
        #expect(try everything(in: installation) == before)
    }

    @Test(.timeLimit(.minutes(2)))
    func `finds no fault in one that runs, and lets the service check its state`() async throws {
        let installation = try sound()
        try await installation.start()
        try await installation.waitUntilIdle()
        let library = try installation.files(below: installation.library)
        let report = try ask(installation)
        #expect(report.faults == [])
        #expect(report.states("service") == ["ok"])
        let database = report.lines.first { $0.check == "state.database" }
        #expect(database?.state == "ok" && database?.detail.contains("The service has checked") == true)
        let operations = try installation.get("/v1/operations", as: ListBody<OperationBody>.self).items
        #expect(operations.map(\.kind) == ["check"] && operations.map(\.findingsCount) == [0])
        #expect(try installation.files(below: installation.library) == library)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2)))
    func `tells what the service says stands in its way`() async throws {
        let installation = try sound()
        try FileManager.default.removeItem(at: installation.library.appending(path: ".photospool/library.json"))
        try await installation.start()
        try await installation.wait(for: "the refusal") {
            try installation.status().reasons.contains { $0.code == "E_MARKER" }
        }
        let report = try ask(installation)
        expect("service", "(E_MARKER)", in: report)
        #expect(report.states("service") == ["warning", "fault"])
    }

    // MARK: Broken in one place

    @Test(.timeLimit(.minutes(2))) func `names a library without its marker`() throws {
        let installation = try sound()
        try FileManager.default.removeItem(at: installation.library.appending(path: ".photospool/library.json"))
        let report = try ask(installation)
        expect("library", "has no marker", in: report)
        #expect(report.faults.count == 1)
    }

    @Test(.timeLimit(.minutes(2))) func `names a library that is not the state's`() throws {
        let installation = try sound()
        let other = try sound()
        let marker = installation.library.appending(path: ".photospool/library.json")
        try FileManager.default.removeItem(at: marker)
        try FileManager.default.copyItem(at: other.library.appending(path: ".photospool/library.json"), to: marker)
        expect("library", "The state belongs to the library", in: try ask(installation))
    }

    @Test(.timeLimit(.minutes(2))) func `names a library that is gone`() throws {
        let installation = try sound()
        try FileManager.default.removeItem(at: installation.library)
        expect("library", "is not there", in: try ask(installation))
    }

    @Test(.timeLimit(.minutes(2))) func `names every fault of the configuration, and what it could not look at`() throws
    {
        let installation = try sound()
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("settle =", with: "setle =").replacing(
            "reserve_free = \"0\"", with: "reserve_free = \"much\""
        )
        .write(to: installation.configuration, atomically: true, encoding: .utf8)
        let report = try ask(installation)
        #expect(report.states("configuration") == ["fault", "fault"])
        expect("configuration", "did you mean `settle`?", in: report)
        #expect(report.states("library") == ["unknown"] && report.states("drops") == ["unknown"])
    }

    @Test(.timeLimit(.minutes(2))) func `names folders that lie inside each other`() throws {
        let installation = try sound()
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("path = \"\(installation.drop.path)\"", with: "path = \"\(installation.library.path)/in\"")
            .write(to: installation.configuration, atomically: true, encoding: .utf8)
        expect("overlap", "lies inside the library", in: try ask(installation))
    }

    @Test(.timeLimit(.minutes(2)), arguments: ["move", "delete"])
    func `names a drop folder that everybody may write to`(afterImport: String) throws {
        let installation = try sound(dropKeys: "after_import = \"\(afterImport)\"")
        #expect(try ask(installation).faults == [])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: installation.drop.path)
        expect("drop.test.after_import", "W_DROP_OPEN", in: try ask(installation))
    }

    @Test(.timeLimit(.minutes(2))) func `names a damaged state, and leaves it as it is`() throws {
        let installation = try sound()
        // What the log holds would take the damage's place.
        for name in ["spool.db-wal", "spool.db-shm"] {
            try? FileManager.default.removeItem(at: installation.state.appending(path: name))
        }
        let file = installation.state.appending(path: "spool.db")
        try Data(repeating: 0xA5, count: 65_536).write(to: file)
        let before = try everything(in: installation)
        expect("state.database", "damaged", in: try ask(installation))
        #expect(try everything(in: installation) == before)
    }

    @Test(.timeLimit(.minutes(2))) func `names a decoder that is not there`() throws {
        let installation = try sound()
        let folder = installation.folder.url.appending(path: "bin")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        for name in ["photospool", "photospoold"] {
            try FileManager.default.copyItem(
                at: Programs.folder.appending(path: name), to: folder.appending(path: name))
        }
        let report = try ask(installation, program: folder.path + "/photospool")
        expect("decoder", "E_DECODER_MISSING", in: report)
        expect("programs", "photospool-decoder is not installed", in: report)
    }

    @Test(.timeLimit(.minutes(2))) func `names a library that is full`() throws {
        guard try Mount.isPossible(for: "a full library") else { return }
        let installation = try Installation(reserveFree: "1GiB")
        let disk = try Mount(at: installation.library, bytes: 1 << 20)
        let report = try ask(installation)
        expect("library.space", "E_LIBRARY_FULL", in: report)
        #expect(report.states("library.filesystem").contains("warning"))  // in memory
        try disk.end()
    }

    @Test(.timeLimit(.minutes(2))) func `names a library that is mounted read-only`() throws {
        guard try Mount.isPossible(for: "a read-only library") else { return }
        let installation = try sound()
        let disk = try Mount(readOnly: installation.library, at: installation.library)
        let report = try ask(installation)
        expect("library.filesystem", "read-only", in: report)
        expect("library.access", "may not read and write", in: report)
        try disk.end()
    }

    @Test(.timeLimit(.minutes(2))) func `names a move_to on another filesystem`() throws {
        guard try Mount.isPossible(for: "a move_to on another filesystem") else { return }
        let target = try TemporaryFolder()
        let disk = try Mount(at: target.url, bytes: 1 << 20)
        let installation = try Installation(dropKeys: "after_import = \"move\"\nmove_to = \"\(target.path)/done\"")
        let report = try ask(installation)
        expect("drop.test.after_import", "is on another filesystem", in: report)
        expect("overlap", "on another filesystem", in: report)
        try disk.end()
    }

    @Test(.timeLimit(.minutes(2))) func `names counts that are wrong, which the service found itself`() async throws {
        guard let tool = Programs.tool("sqlite3") else {
            print("skipped: wrong counts in the state (no sqlite3)")
            return
        }
        let installation = try sound()
        try await installation.start()
        try await installation.waitUntilIdle()
        let database = installation.state.path + "/spool.db"
        let change = "PRAGMA busy_timeout = 5000; UPDATE tally SET jobs = 7 WHERE name = 'failed'"
        #expect(try Programs.run(tool, [database, change]).status == 0)
        let report = try ask(installation)
        expect("state.database", "The status counts 7 jobs as failed; there are 0.", in: report)
        #expect(report.states("service.jobs") == ["warning"])
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2))) func `names a drop folder on a share that does not answer, and is not held up`()
        throws
    {
        guard try Mount.isPossible(for: "a share that does not answer"), unsafe access("/dev/fuse", R_OK | W_OK) == 0
        else { return }
        let installation = try sound()
        let silence = try Silence(at: installation.drop)
        defer { silence.end() }
        let report = try ask(installation)
        expect("drop.test", "does not answer within 5 s", in: report)
        #expect(report.states("overlap") == ["unknown"])
        #expect(report.states("library") == ["ok"])
    }

    /// A filesystem of user space whose program never says a word: whoever touches it waits.
    private final class Silence {
        private let point: URL
        private let device: Int32

        init(at point: URL) throws {
            self.point = point
            device = unsafe open("/dev/fuse", O_RDWR | O_CLOEXEC)
            let options = "fd=\(device),rootmode=40000,user_id=0,group_id=0"
            let code = unsafe mount("silence", point.path, "fuse", 0, options)
            try #require(device >= 0 && code == 0)
        }

        func end() {
            close(device)  // with it whoever waits is told that nobody will answer
            unsafe umount2(point.path, Int32(MNT_DETACH))
        }
    }

    // MARK: As somebody else

    @Test(.timeLimit(.minutes(2))) func `as a user, names what the service may not read, and what could not be asked`()
        throws
    {
        guard getuid() == 0, let tool = Programs.tool("setpriv") else {
            print("skipped: doctor as another user (takes root and setpriv)")
            return
        }
        let installation = try sound()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: installation.folder.path)
        let nobody = [tool, "--reuid=65534", "--regid=65534", "--clear-groups"]
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: installation.drop.path)
        let report = try ask(installation, before: nobody)
        expect("drop.test", "may not read", in: report)
        #expect(report.states("state.database") == ["unknown"])
        #expect(report.states("library.abilities") == ["unknown"])
    }

    @Test(.timeLimit(.minutes(2))) func `as a user, says how to be let in, and what he may not order`() async throws {
        guard getuid() == 0, let tool = Programs.tool("setpriv") else {
            print("skipped: doctor as a user without the group (takes root and setpriv)")
            return
        }
        let installation = try sound()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: installation.folder.path)
        try await installation.start()
        let nobody = [tool, "--reuid=65534", "--regid=65534", "--clear-groups"]
        _ = unsafe chown(installation.socket, 0, 4)
        let closed = try ask(installation, before: nobody)
        #expect(closed.states("service") == ["unknown"])
        let control = closed.lines.first { $0.check == "control" }
        #expect(control?.state == "warning" && control?.recovery.contains("usermod -aG adm nobody") == true)

        // Let in to look, as everybody is now; not to order.
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: installation.socket)
        let open = try ask(installation, before: nobody)
        #expect(open.states("service") == ["ok"] && open.states("control") == ["ok", "warning"])
        let database = open.lines.first { $0.check == "state.database" }
        #expect(database?.state == "unknown" && database?.detail.contains("may not order") == true)
        #expect(try installation.get("/v1/operations", as: ListBody<OperationBody>.self).items.isEmpty)
        #expect(installation.stop() == 0)
    }

    @Test(.timeLimit(.minutes(2))) func `as root, asks in the name of the service's user`() async throws {
        guard getuid() == 0, Programs.tool("setpriv") != nil else {
            print("skipped: a service of another user (takes root and setpriv)")
            return
        }
        let installation = try sound(dropKeys: "after_import = \"delete\"")
        // Who owns the socket is who the service runs as; nothing has to answer for that.
        for name in try [installation.state, installation.library].flatMap({ url in
            try [url.path] + (FileManager.default.subpathsOfDirectory(atPath: url.path)).map { url.path + "/" + $0 }
        }) { _ = unsafe chown(name, 65_534, 65_534) }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: installation.folder.path)
        let daemon = Process()
        daemon.executableURL = URL(filePath: "/usr/bin/env")
        _ = unsafe chown(installation.folder.path, 65_534, 65_534)
        daemon.arguments = [
            "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Programs.path("photospoold"), "--config",
            installation.configuration.path, "--state-dir", installation.state.path,
        ]
        daemon.standardOutput = FileHandle.nullDevice
        daemon.standardError = FileHandle.nullDevice
        try daemon.run()
        installation.daemon = daemon
        try await installation.wait(for: "the daemon to answer") { (try? installation.status().state) == "running" }
        try Samples.variant(2).write(to: installation.drop.appending(path: "IMG_2.JPG"))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: installation.drop.path + "/IMG_2.JPG")
        let report = try ask(installation)
        expect("drop.test.readable", "nobody may not read 1 file", in: report)
        expect("drop.test.after_import", "nobody may not change", in: report)
        #expect(report.states("library.access") == ["ok"])
        #expect(report.states("state") == ["ok"])

        // Now he may write there, and still remove nothing of anybody else's.
        _ = unsafe chown(installation.drop.path, 0, 65_534)
        try FileManager.default.setAttributes([.posixPermissions: 0o1770], ofItemAtPath: installation.drop.path)
        let sticky = try ask(installation).faults.filter { $0.check == "drop.test.after_import" }
        #expect(sticky.count == 1 && sticky.first?.detail.contains("is sticky and holds files of root") == true)
    }
}
