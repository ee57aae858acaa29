import Files
import Glibc
import PhotoModel
import Testing

@testable import Watch

@Suite("A tree that changes while it is watched", .timeLimit(.minutes(1))) struct TreeTests {
    @Test func `A06 of eight levels is found when it is moved in while it is filled`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try await scene.waitForFirstScan()
        let tree = scene.base / "tree"
        // Writes through held folders, which the move does not disturb.
        let worker = try Worker(
            """
            import os, sys
            path, folders = sys.argv[1], []
            for level in range(8):
                os.mkdir(path)
                folders.append(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
                path += f'/{level}'
            for number in range(100):
                if number == 50: print('half', flush=True)
                for level, folder in enumerate(folders):
                    file = os.open(f'IMG_{level}_{number}.jpg', os.O_WRONLY | os.O_CREAT, dir_fd=folder)
                    os.write(file, b'photo')
                    os.close(file)
            """, [tree.shown])
        try worker.speaks()
        try move(tree, to: scene.drop / "tree")
        try worker.join()
        _ = try await scene.files(800)
        try await scene.fence()
        #expect(Set(scene.queue.files.map(\.path)).count == 800)
        #expect(scene.queue.names.count == 800)
        #expect(scene.queue.files.contains { $0.path == scene.drop / "tree/0/1/2/3/4/5/6/IMG_7_99.jpg" })
        #expect(scene.health.watches == 9)
    }

    @Test func `A04 is found as four processes make it, three levels at once with a file in each`() async throws {
        let scene = try Scene()
        defer { scene.end() }
        try await scene.waitForFirstScan()
        func worker(_ number: Int) throws -> Worker {
            try Worker(
                """
                import os, sys
                for number in range(50):
                    folder = f'{sys.argv[1]}/{sys.argv[2]}-{number}'
                    for level in range(3):
                        os.mkdir(folder)
                        with open(f'{folder}/IMG_{level}.jpg', 'w') as file: file.write('photo')
                        folder += f'/{level}'
                """, [scene.drop.shown, String(number)])
        }
        let one = try worker(1)
        let two = try worker(2)
        let three = try worker(3)
        let four = try worker(4)
        try one.join()
        try two.join()
        try three.join()
        try four.join()
        _ = try await scene.files(600)
        try await scene.fence()
        #expect(Set(scene.queue.files.map(\.path)).count == 600)
        #expect(scene.queue.names.count == 600)
        #expect(scene.health.watches == 601)
    }

    @Test func `T12 is given up when the drop folder is renamed and made anew, and known when it is back`() async throws
    {
        let scene = try Scene(settings: { $0.rescanInterval = .seconds(3600) })
        defer { scene.end() }
        try make(scene.drop / "a")
        try write("photo", to: scene.drop / "a/IMG_1.jpg")
        _ = try await scene.files(1)
        try move(scene.drop, to: scene.base / "old")
        try make(scene.drop)
        try write("photo", to: scene.base / "old/a/IMG_2.jpg")
        try make(scene.drop / "a")
        try write("photo", to: scene.drop / "a/IMG_3.jpg")
        _ = try await scene.files(2)
        try await scene.fence()
        #expect(scene.queue.names == ["IMG_1.jpg", "IMG_3.jpg"])
        #expect(scene.health.watches == 2)

        try move(scene.drop, to: scene.base / "new")
        try move(scene.base / "old", to: scene.drop)
        _ = try await scene.files(3)
        try await scene.fence()
        #expect(scene.queue.names == ["IMG_1.jpg", "IMG_3.jpg", "IMG_2.jpg"])
    }
}
