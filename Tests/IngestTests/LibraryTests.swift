import Files
import Foundation
import PhotoModel
import Store
import TestSupport
import Testing

@testable import Ingest

@Suite("A library") struct LibraryTests {
    private func open(_ folder: TemporaryFolder, knownID: String? = nil, created: (String) -> Void = { _ in }) throws
        -> Library
    {
        var settings = LibrarySettings()
        settings.path = Path(folder.path)
        return try Library(settings: settings, knownID: knownID, now: Scene.start, onCreation: created)
    }

    @Test func `is made of an empty folder when the state has never known one, and that is said`() throws {
        let folder = try TemporaryFolder()
        try Scene.makeFolder(folder.url.appending(path: "lost+found"))  // as in a fresh ext4
        var said: [String] = []
        let id = try open(folder) { said.append($0) }.id
        #expect(said == [id])
        let marker = try Data(contentsOf: folder.url.appending(path: ".photospool/library.json"))
        struct Marker: Decodable { var id: String }
        #expect(try JSONDecoder().decode(Marker.self, from: marker).id == id)
        // The next time it is the same one, known or not, and nothing is made.
        #expect(try open(folder, knownID: id) { _ in Issue.record("made again") }.id == id)
        #expect(try open(folder) { _ in Issue.record("made again") }.id == id)
    }

    @Test(arguments: [[], ["staging"], ["staging", "previews", "journal"]], [true, false])
    func `is made again where a process was killed while it made one`(parts: [String], hasFile: Bool) throws {
        let folder = try TemporaryFolder()
        for part in [""] + parts { try Scene.makeFolder(folder.url.appending(path: ".photospool/" + part)) }
        if hasFile { try Data("{".utf8).write(to: folder.url.appending(path: ".photospool/library.json.new-1")) }
        var made = 0
        let library = try open(folder) { _ in made += 1 }
        #expect(made == 1)
        try library.check()
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/.photospool/library.json.new-1"))
    }

    @Test(arguments: ["photo.jpg", ".hidden", "folder/photo.jpg", ".photospool/previews/ab/x.jpg", ".photospool/x"])
    func `is not made of a folder with something in it`(name: String) throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: name)
        try Scene.makeFolder(file.deletingLastPathComponent())
        try Data([1]).write(to: file)
        #expect(code { _ = try open(folder) } == .marker)
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/.photospool/library.json"))
    }

    @Test func `A18 is not made of the bare mount point of a known one`() throws {
        let folder = try TemporaryFolder()
        #expect(code { _ = try open(folder, knownID: "018f0000-0000-7000-8000-0000000000ab") } == .marker)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `is refused when it is another than the state knows`() throws {
        let folder = try TemporaryFolder()
        _ = try open(folder)
        #expect(code { _ = try open(folder, knownID: "018f0000-0000-7000-8000-0000000000ab") } == .marker)
    }

    @Test func `with a damaged marker is refused and not made anew`() throws {
        let folder = try TemporaryFolder()
        let id = try open(folder).id
        try Data("{".utf8).write(to: folder.url.appending(path: ".photospool/library.json"))
        #expect(code { _ = try open(folder) } == .marker)
        #expect(code { _ = try open(folder, knownID: id) } == .marker)
    }

    @Test func `is held by one alone, who is named`() throws {
        let folder = try TemporaryFolder()
        let first = try open(folder)
        do {
            _ = try open(folder)
            Issue.record("opened twice")
        } catch let problem as Problem {
            #expect(problem.code == .locked)
            #expect(problem.whatHappened.contains(String(ProcessInfo.processInfo.processIdentifier)))
        }
        _ = first.id
    }

    @Test func `that is absent is offline`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.removeItem(at: folder.url)
        #expect(code { _ = try open(folder) } == .libraryOffline)
    }

    @Test func `whose group does not exist is a fault of the configuration`() throws {
        let folder = try TemporaryFolder()
        var settings = LibrarySettings()
        settings.path = Path(folder.path)
        settings.group = "no-such-group"
        #expect(code { _ = try Library(settings: settings, knownID: nil, now: Scene.start) { _ in } } == .config)
    }

    // MARK: While it is open

    @Test func `notices that its path leads elsewhere, and that it is back`() throws {
        let scene = try Scene()
        let library = try scene.library
        try library.check()
        try FileManager.default.moveItem(at: scene.url("library"), to: scene.url("away"))
        #expect(code { try library.check() } == .libraryOffline)
        try Scene.makeFolder(scene.url("library"))
        #expect(code { try library.check() } == .libraryOffline)
        try scene.remove("library")
        try FileManager.default.moveItem(at: scene.url("away"), to: scene.url("library"))
        try library.check()
    }

    @Test func `notices that its marker is gone or another one`() throws {
        let scene = try Scene()
        let marker = "library/.photospool/library.json"
        let bytes = try scene.bytes(marker)
        try scene.remove(marker)
        #expect(code { try scene.library.check() } == .marker)
        let other = String(decoding: bytes, as: UTF8.self).replacing(
            try scene.library.id, with: "018f0000-0000-7000-8000-0000000000ab")
        try scene.write(Array(other.utf8), to: marker)
        #expect(code { try scene.library.check() } == .marker)
        try scene.write(bytes, to: marker)
        try scene.library.check()
    }

    @Test func `A18 notices another disk mounted over it`() throws {
        let scene = try Scene()
        guard try Mount.isPossible(for: "a disk mounted over the library") else { return }
        let mount = try Mount(at: scene.url("library"), bytes: 1 << 20)
        #expect(code { try scene.library.check() } == .libraryOffline)
        try mount.end()
        try scene.library.check()
    }

    @Test func `is opened again by its keeper when it comes back, and only as itself`() throws {
        let scene = try Scene()
        scene.close()
        let keeper = LibraryKeeper(store: scene.store, log: { _ in }, now: { Scene.start })
        let id = try keeper.open(scene.librarySettings).id
        #expect(try scene.store.setting("library_id") == id)
        try FileManager.default.moveItem(at: scene.url("library"), to: scene.url("away"))
        #expect(code { _ = try keeper.open(scene.librarySettings) } == .libraryOffline)
        #expect(keeper.library == nil)
        try Scene.makeFolder(scene.url("library"))
        #expect(code { _ = try keeper.open(scene.librarySettings) } == .marker)
        try scene.remove("library")
        try FileManager.default.moveItem(at: scene.url("away"), to: scene.url("library"))
        #expect(try keeper.open(scene.librarySettings).id == id)
        keeper.close()
    }
}

@Suite("The library's journal") struct LibraryJournalTests {
    private func line(_ id: Int64) -> JournalLine {
        .init(id: id, time: Scene.start.rfc3339, what: "commit", job: 7)
    }

    private let file = "library/.photospool/journal/2026-05.jsonl"

    @Test func `has a file for each month, and one line of JSON for each act`() throws {
        let scene = try Scene()
        #expect(try scene.library.journal.lastID() == 0)
        try scene.library.journal.append(line(1), at: Scene.start)
        try scene.library.journal.append(line(2), at: Scene.start)
        try scene.library.journal.append(line(3), at: Scene.start + .seconds(31 * 86400))
        #expect(scene.files(below: "library/.photospool/journal") == ["2026-05.jsonl", "2026-06.jsonl"])
        let text = String(decoding: try scene.bytes(file), as: UTF8.self)
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 3)
        #expect(text.hasSuffix("\n"))
        #expect(try scene.library.journal.lastID() == 3)
    }

    @Test func `J01 loses only the line that was torn, wherever it was torn`() throws {
        let scene = try Scene()
        try scene.library.journal.append(line(41), at: Scene.start)
        let whole = try scene.bytes(file)
        try scene.library.journal.append(line(42), at: Scene.start)
        let both = try scene.bytes(file)
        for cut in whole.count..<both.count {
            try scene.write(Array(both[..<cut]), to: file)
            // All of it but the newline is a whole line still.
            #expect(try scene.library.journal.lastID() == (cut == both.count - 1 ? 42 : 41))
            try scene.library.journal.append(line(43), at: Scene.start)
            #expect(try scene.library.journal.lastID() == 43)
        }
    }

    @Test func `J02 finds its last id behind a block of zeros`() throws {
        let scene = try Scene()
        try scene.library.journal.append(line(41), at: Scene.start)
        var bytes = try scene.bytes(file)
        bytes += [UInt8](repeating: 0, count: 4096)
        try scene.write(bytes, to: file)
        #expect(try scene.library.journal.lastID() == 41)
        try scene.library.journal.append(line(42), at: Scene.start)
        #expect(try scene.library.journal.lastID() == 42)
    }

    @Test func `knows its highest id also when the clock was once ahead by years`() throws {
        let scene = try Scene()
        try scene.library.journal.append(line(5), at: Scene.start + .seconds(4 * 365 * 86400))
        try scene.library.journal.append(line(6), at: Scene.start)
        #expect(try scene.library.journal.lastID() == 6)
    }

    @Test func `that is ahead of the state stops everything`() throws {
        let scene = try Scene()
        let shot = try scene.stage()
        _ = try scene.commit(shot)
        try scene.library.checkNotAhead(of: scene.store)
        let known = try scene.store.highestJournalID()
        try scene.library.journal.append(line(known + 1), at: Scene.start)
        #expect(code { try scene.library.checkNotAhead(of: scene.store) } == .stateStale)
    }
}
