import PhotoModel
import Store
import Testing

@Suite("A source that the library may hold") struct MayHoldTests {
    private func mayHold(_ path: String, size: Int64 = 1000, filesystem: String, in scene: Scene) throws -> Bool {
        let file = Scene.file(path, size: size, filesystem: filesystem)
        let job = try #require(try scene.store.job(try scene.enqueue([Scene.group(file)])[0]))
        return try scene.store.mayHold(file, of: job)
    }

    @Test func `was handed over before by its path and size, on any filesystem`() throws {
        let scene = try Scene()
        for filesystem in ["1", "2", "3"] {
            try scene.enqueue([Scene.group(Scene.file("/card/IMG_\(filesystem).JPG", filesystem: filesystem))])
        }
        #expect(try mayHold("/card/IMG_2.JPG", filesystem: "9", in: scene))
        #expect(try mayHold("/card/IMG_3.JPG", filesystem: "0", in: scene))
        #expect(try !mayHold("/card/IMG_4.JPG", filesystem: "9", in: scene))  // its own job is none
        #expect(try !mayHold("/card/IMG_2.JPG", size: 999, filesystem: "8", in: scene))
        #expect(try !mayHold("/other/IMG_2.JPG", filesystem: "9", in: scene))
    }

    @Test func `came from a file of its name and size, in any folder`() throws {
        let scene = try Scene()
        try scene.enqueue("/card/IMG_1.JPG")
        try scene.importNext(asset: "a", hash: 1, path: Path("2026/X.JPG"))
        #expect(try mayHold("/elsewhere/IMG_1.JPG", filesystem: "9", in: scene))
        #expect(try !mayHold("/elsewhere/IMG_1.JPG", size: 1001, filesystem: "9", in: scene))
        #expect(try !mayHold("/elsewhere/X.JPG", filesystem: "9", in: scene))
    }
}
