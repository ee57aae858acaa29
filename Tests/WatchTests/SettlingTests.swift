import Files
import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import Watch

@Suite("Files that are still being written", .timeLimit(.minutes(1))) struct HalfWrittenTests {
    @Test func `B01 are taken under their last name only`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try write("half", to: scene.drop / "x.jpg.filepart")
        try await scene.fence()
        try write("whole", to: scene.drop / "x.jpg.filepart", append: true)
        try move(scene.drop / "x.jpg.filepart", to: scene.drop / "x.jpg")
        #expect(try await scene.files(1) == ["x.jpg"])
        try await scene.fence()
        #expect(scene.queue.names.count == 1)
    }

    @Test func `B03 are not taken under the names of synchronising programs`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try write("half", to: scene.drop / ".syncthing.A.jpg.tmp")
        try write("half", to: scene.drop / "~syncthing~B.jpg")
        try await scene.fence()
        try move(scene.drop / ".syncthing.A.jpg.tmp", to: scene.drop / "A.jpg")
        try move(scene.drop / "~syncthing~B.jpg", to: scene.drop / "B.jpg")
        #expect(try await scene.files(2) == ["A.jpg", "B.jpg"])
        try await scene.fence()
        #expect(scene.queue.names.count == 2)
    }

    @Test func `B04 are left alone for twice as long as they lay closed, from their first close on`() throws {
        let context = WatchContext(door: Queue().door, tuning: Scene.quick())
        let drop = DropWatch(DropFolder(name: "card", path: Path("/drop")), in: context)
        let node = FolderNode(Path(bytes: []), in: nil, of: drop, seen: 0)
        func at(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }
        func stamp(_ size: Int64) -> FileStamp { FileStamp(device: 1, inode: 1, size: size, mtime: size) }
        let name = Path("IMG_1.jpg")
        // Made and closed in one breath, continued 4 s later.
        drop.notice(name, in: node, stamp(1), by: .event(wasWritten: true), at: at(0))
        drop.notice(name, in: node, stamp(2), by: .event(wasWritten: true), at: at(4))
        let shot = try #require(node.shots[Path("IMG_1")])
        let rules = Settling.Rules(settle: .seconds(2))
        #expect(shot.members[0].settling.look(stamp(2), writer: .none, at: at(9), by: rules) == .wait(until: at(12)))
        node.isolate()
    }

    @Test func `B05 are taken once, when the writer that holds them open has gone`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        let path = scene.drop / "IMG_1.jpg"
        for _ in 0..<5 { try write("x", to: path, append: true) }
        var file: Descriptor? = try opened(path, append: true)
        // Several settle times pass: only the lease tells that it is not complete.
        for _ in 0..<5 { try await scene.fence() }
        #expect(scene.queue.names.isEmpty)
        #expect(scene.health.candidates >= 1)
        if let held = file.take() { try held.write(Array("the rest".utf8)) }
        _ = try await scene.files(1)
        #expect(scene.queue.files[0].stamp.size == 13)
        try await scene.fence()
        #expect(scene.queue.names.count == 1)
    }

    @Test func `that were half there at the start are taken when the writer has gone`() async throws {
        var file: Descriptor?
        let scene = try Scene(prepare: { drop in
            file = try opened(drop / "IMG_1.jpg")
            try write("photo", to: drop / "IMG_2.jpg")
        })
        defer { scene.end() }
        #expect(try await scene.files(1) == ["IMG_2.jpg"])
        try await scene.fence()
        #expect(scene.queue.names.count == 1)
        if let held = file.take() { try held.write(Array("photo".utf8)) }
        #expect(try await scene.files(2) == ["IMG_1.jpg", "IMG_2.jpg"])
    }

    @Test func `settle anew under the same name when they change after they were taken`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try write("first", to: scene.drop / "IMG_1.jpg")
        _ = try await scene.files(1)
        try write("and more", to: scene.drop / "IMG_1.jpg", append: true)
        _ = try await scene.files(2)
        #expect(scene.queue.files.map(\.stamp.size) == [5, 13])
    }

    @Test func `are reported when they stay empty, and taken when content comes`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try write("", to: scene.drop / "IMG_1.jpg")
        _ = try await scene.files(1)
        #expect(scene.queue.groups[0].verdict?.code == .empty)
        try write("content", to: scene.drop / "IMG_1.jpg")
        _ = try await scene.files(2)
        #expect(scene.queue.groups[1].verdict == nil)
    }

    @Test func `are never opened when they are a pipe`() async throws {
        let scene = try Scene(prepare: { drop in
            try check(unsafe (drop / "IMG_1.jpg").withCString { unsafe mkfifo($0, 0o644) }, "mkfifo")
        })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        try check(unsafe (scene.drop / "IMG_2.jpg").withCString { unsafe mkfifo($0, 0o644) }, "mkfifo")
        try await scene.fence()
        #expect(scene.queue.names.isEmpty)
        #expect(scene.health.candidates == 0)
    }
}

@Suite("Files nobody wants", .timeLimit(.minutes(1))) struct JunkTests {
    @Test func `C01 C02 C04 are passed over without a watch`() async throws {
        let folders = [
            ".AppleDouble", ".Trashes", ".fseventsd", ".sync", "System Volume Information", "$RECYCLE.BIN", "@eaDir",
            ".photospool", ".imported",
        ]
        let scene = try Scene(prepare: { drop in
            for folder in folders {
                try make(drop / folder)
                try write("photo", to: drop / folder / "IMG_1.JPG")
            }
        })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        try write("junk", to: scene.drop / "._IMG_1.JPG")
        try write("photo", to: scene.drop / "IMG_1.JPG")
        for folder in folders { try write("photo", to: scene.drop / folder / "IMG_2.JPG") }
        _ = try await scene.files(1)
        try await scene.fence()
        #expect(scene.queue.names == ["IMG_1.JPG"])
        #expect(scene.queue.groups[0].verdict == nil)
        #expect(scene.health.watches == 1)
    }

    @Test func `C06 are taken once they leave their hidden folder`() async throws {
        let scene = try Scene(prepare: { drop in
            try make(drop / ".staging")
            try write("photo", to: drop / ".staging/IMG_1.jpg")
        })
        defer { scene.end() }
        try await scene.fence()
        #expect(scene.queue.names.isEmpty)
        try move(scene.drop / ".staging/IMG_1.jpg", to: scene.drop / "IMG_1.jpg")
        _ = try await scene.files(1)
        try await scene.fence()
        #expect(scene.queue.files.map(\.path) == [scene.drop / "IMG_1.jpg"])
    }

    @Test func `C08 of no known kind are handed over once, for their content to decide`() async throws {
        let scene = try Scene(prepare: { drop in
            try make(drop / "empty")
            try write("text", to: drop / "notes.txt")
            try write("zip", to: drop / "notes.zip")
        })
        defer { scene.end() }
        #expect(try await scene.files(2) == ["notes.txt", "notes.zip"])
        scene.rescan()
        try await scene.fence()
        #expect(scene.queue.groups.map(\.files.count) == [1, 1])
        #expect(scene.queue.groups.allSatisfy { $0.verdict == nil })
    }

    @Test func `that are too large, or of a kind nobody asked for, carry their verdict`() async throws {
        let scene = try Scene(
            settings: {
                $0.maxFileSize = ByteCount(10)
                $0.kinds = [.raw]
            },
            prepare: { drop in
                try write("more than ten", to: drop / "A.CR2")
                try write("photo", to: drop / "B.JPG")
                try write("raw", to: drop / "C.CR2")
                try write("raw", to: drop / "D.CR2")
                try write("photo", to: drop / "D.JPG")
            })
        defer { scene.end() }
        _ = try await scene.files(5)
        var verdicts: [String: String] = [:]
        for group in scene.queue.groups {
            verdicts[group.files[0].path.name.shown] = group.verdict?.code.rawValue ?? "none"
        }
        #expect(verdicts == ["A.CR2": "E_TOO_LARGE", "B.JPG": "E_FILTERED", "C.CR2": "none", "D.JPG": "none"])
    }
}

@Suite("Files of one shot", .timeLimit(.minutes(1))) struct ShotTests {
    @Test func `F01 F06 travel together although they come one after another`() async throws {
        let scene = try Scene(settings: { $0.groupWait = .milliseconds(400) })
        defer { scene.end() }
        for name in ["IMG_1.MOV", "IMG_1.AAE", "IMG_1.HEIC"] { try write(name, to: scene.drop / name) }
        _ = try await scene.files(3)
        let group = try #require(scene.queue.groups.first)
        #expect(group.files.map(\.path.name.shown) == ["IMG_1.HEIC", "IMG_1.MOV", "IMG_1.AAE"])
        #expect(group.files.map(\.role) == [.photo, .pairedVideo, .adjustment])
    }

    @Test func `F10 are reported as orphans once, and go along when the photo comes`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try write("edit", to: scene.drop / "IMG_9.AAE")
        try await scene.until("waiting") { scene.health.waitingForOthers == 1 && scene.health.candidates == 0 }
        _ = try await scene.files(1)
        #expect(scene.queue.groups[0].verdict?.code == .orphan)
        scene.rescan()
        try await scene.fence()
        #expect(scene.queue.names.count == 1)
        try write("photo", to: scene.drop / "IMG_9.HEIC")
        _ = try await scene.files(3)
        #expect(scene.queue.groups[1].files.map(\.path.name.shown) == ["IMG_9.HEIC", "IMG_9.AAE"])
        #expect(scene.queue.groups[1].verdict == nil)
        try await scene.until("nothing waits") { scene.health.waitingForOthers == 0 }
    }

    @Test func `that come after their photo was taken are late, and no orphans`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        scene.queue.state.withLock { _ = $0.stems.insert("IMG_1") }
        try write("sidecar", to: scene.drop / "IMG_1.xmp")
        _ = try await scene.files(1)
        #expect(scene.queue.groups[0].verdict == nil)
        #expect(scene.queue.files[0].role == .sidecar)
    }
}

@Suite("A single pass", .timeLimit(.minutes(1))) struct OnceTests {
    @Test func `ends by itself when everything is handed over, and waits for no further members`() async throws {
        let scene = try Scene(
            tuning: Scene.quickOnce(), settings: { $0.groupWait = .seconds(3600) },
            prepare: { drop in
                try make(drop / "a")
                try write("photo", to: drop / "a/IMG_1.jpg")
                try write("raw", to: drop / "a/IMG_1.cr2")
                try write("", to: drop / "IMG_2.jpg")
                try write("sidecar", to: drop / "IMG_3.xmp")
            })
        defer { scene.end() }
        scene.join()
        #expect(scene.queue.names.sorted() == ["IMG_1.cr2", "IMG_1.jpg", "IMG_2.jpg", "IMG_3.xmp"])
        #expect(Set(scene.queue.groups.map(\.verdict?.code)) == [nil, .empty, .orphan])
        #expect(scene.health.candidates == 0)
    }

    @Test func `leaves a file that stays open for the next time, and says so`() async throws {
        var file: Descriptor?
        let scene = try Scene(
            tuning: Scene.quickOnce(), prepare: { drop in file = try opened(drop / "IMG_1.jpg") })
        defer { scene.end() }
        scene.join()
        #expect(scene.queue.names.isEmpty)
        #expect(scene.health.candidates == 1)
        if let held = file.take() { try held.write([1]) }
    }

    @Test func `ends at once when the drop folder is not there`() async throws {
        let scene = try Scene(tuning: Scene.quickOnce(), isPresent: false)
        defer { scene.end() }
        scene.join()
        #expect(scene.health.health == .waiting)
    }
}
