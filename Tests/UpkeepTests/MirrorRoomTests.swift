import Files
import Foundation
import PhotoModel
import Store
import Synchronization
import TestSupport
import Testing

@testable import Ingest
@testable import Upkeep

@Suite("The mirror's thread", .tags(.neverLost)) struct MirrorRoomTests {
    private let journal = JournalTests()

    /// A catalog of so many originals, `2026/IMG_1.JPG` and on, and an empty mirror beside the library.
    private func scene(_ count: Int) throws -> (scene: UpkeepScene, settings: LibrarySettings) {
        let scene = try UpkeepScene()
        var lines: [(id: Int64, intent: CommitIntent)] = []
        for number in 1...count {
            let (bytes, path) = (Array("photo \(number)".utf8), Path("2026/IMG_\(number).JPG"))
            try journal.put(bytes, at: path, in: scene)
            lines.append((Int64(number), journal.intent("i\(number)", asset: "a\(number)", bytes, at: path)))
        }
        try journal.write(lines, to: scene)
        #expect(try journal.rebuild(scene).isEmpty)
        var settings = LibrarySettings()
        settings.path = scene.library.path
        settings.mirror = Path(scene.folder.path + "/mirror")
        settings.reserveFree = .zero
        try FileManager.default.createDirectory(
            at: scene.folder.url.appending(path: "mirror"), withIntermediateDirectories: true)
        _ = try LibraryMarker.create(
            in: Folder(opening: settings.mirror), mirrorOf: scene.library.id, shown: settings.mirror,
            now: UpkeepScene.start)
        return (scene, settings)
    }

    private func originals(_ scene: UpkeepScene) throws -> [String] {
        let folder = scene.folder.path + "/mirror/2026"
        return FileManager.default.fileExists(atPath: folder) ? try scene.names("mirror/2026") : []
    }

    /// Lets it work until there is nothing that it could do.
    private func work(_ room: MirrorRoom) {
        Thread { room.run() }.start()
        while room.isAtWork { usleep(1000) }
        room.stop()
        while !room.hasEnded { usleep(1000) }
    }

    private func room(_ scene: UpkeepScene, _ settings: LibrarySettings) -> MirrorRoom {
        let library = scene.library
        return MirrorRoom(
            store: scene.store, library: { library }, settings: { settings }, log: { _ in }, now: { UpkeepScene.start },
            monotonic: { .seconds(100) }, advanced: { _ in })
    }

    @Test func `does nothing by a state that is older than the library`() throws {
        let (scene, settings) = try scene(2)
        let later = Array("later".utf8)
        try journal.put(later, at: Path("2026/IMG_3.JPG"), in: scene)
        try journal.write([(99, journal.intent("i3", asset: "a3", later, at: Path("2026/IMG_3.JPG")))], to: scene)
        work(room(scene, settings))
        #expect(try originals(scene) == [])
        #expect(try scene.store.mirrorID == nil)
        #expect(try journal.rebuild(scene).isEmpty)
        work(room(scene, settings))
        #expect(try originals(scene) == ["IMG_1.JPG", "IMG_2.JPG", "IMG_3.JPG"])
    }

    /// Its lock would keep the service from opening it again.
    @Test(.timeLimit(.minutes(1))) func `lets a library go that was closed, in the middle of its work`() throws {
        let (scene, settings) = try scene(70)
        var copied = settings
        copied.path = Path(scene.folder.path + "/copy")
        try FileManager.default.copyItem(
            at: scene.folder.url.appending(path: "library"), to: scene.folder.url.appending(path: "copy"))
        let current = Mutex<Library?>(
            try Library(settings: copied, knownID: scene.library.id, now: UpkeepScene.start) { _ in })
        weak let closed = current.withLock { $0 }
        // After the first portion of 64.
        let room = MirrorRoom(
            store: scene.store, library: { current.withLock { $0 } }, settings: { settings }, log: { _ in },
            now: { UpkeepScene.start }, monotonic: { .seconds(100) },
            advanced: { _ in current.withLock { $0 = nil } })
        Thread { room.run() }.start()
        while closed != nil { usleep(1000) }
        #expect(try originals(scene).count == 64)
        let again = try Library(settings: copied, knownID: scene.library.id, now: UpkeepScene.start) { _ in }
        #expect(again.id == scene.library.id)
        room.stop()
        while !room.hasEnded { usleep(1000) }
    }
}
