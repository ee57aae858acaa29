import Files
import PhotoModel
import Synchronization
import Testing

@testable import Watch

@Suite("More files than may be kept in memory", .timeLimit(.minutes(2))) struct FloodTests {
    /// Of a watcher that keeps 100 files it has not looked at; a listing takes further ones up a portion at a time.
    private static func tuning() -> WatchTuning {
        var tuning = Scene.quick()
        tuning.scanAhead = 100
        return tuning
    }

    private static let most = 100 + Listing.portion + 2 * tuning().batch

    private func count(_ scene: Scene) -> Int { scene.queue.state.withLock { $0.known.count } }

    @Test func `D15 are taken as they come, each once, and events are not doubted`() async throws {
        let scene = try Scene(
            tuning: Self.tuning(),
            settings: { settings in
                settings.settle = .milliseconds(700)
                settings.rescanInterval = .seconds(3600)
            })
        defer { scene.end() }
        try await scene.waitForFirstScan()
        try make(scene.drop / "a")
        try make(scene.base / "outside")
        for number in 0..<3000 { try write("photo", to: scene.base / "outside/IMG_\(number).jpg") }
        // Moved in, which is quicker than any other way to come.
        for number in 0..<3000 {
            let name = "IMG_\(number).jpg"
            try move(scene.base / "outside" / name, to: scene.drop / (number % 2 == 0 ? "a" : "") / name)
        }
        var largest = 0
        try await scene.until("all") {
            largest = max(largest, scene.health.candidates)
            return count(scene) == 3000
        }
        #expect(largest <= Self.most)
        try await scene.until("nothing left") { scene.health.candidates == 0 }
        #expect(Set(scene.queue.names).count == 3000 && scene.queue.names.count == 3000)
        #expect(scene.health.mode == "inotify" && scene.health.health == .ok)
        #expect(scene.queue.lines(with: "no event told") == 0)
        // What comes when there is room again is kept as before.
        try write("photo", to: scene.drop / "LAST.jpg")
        try await scene.until("the last") { count(scene) == 3001 }
    }

    @Test func `D15 of one folder stay together with what belongs to them`() async throws {
        let scene = try Scene(
            tuning: Self.tuning(), settings: { $0.rescanInterval = .seconds(3600) },
            prepare: { drop in
                // Every second one first, so that no order of making brings a pair together.
                for suffix in ["CR2", "xmp", "JPG"] {
                    for number in 0..<1500 { try write("photo", to: drop / "IMG_\(number).\(suffix)") }
                }
            })
        defer { scene.end() }
        var largest = 0
        try await scene.until("all") {
            largest = max(largest, scene.health.candidates)
            return count(scene) == 4500
        }
        #expect(largest <= Self.most)
        #expect(scene.queue.groups.count == 1500)
        #expect(scene.queue.groups.allSatisfy { $0.files.count == 3 })
    }
}

@Suite("The names of one folder") struct NameListTests {
    private func sorted(_ names: [String]) -> [String] {
        var list = NameList()
        for name in names { list.append(Path(name)) }
        list.endFilling()
        var result: [String] = []
        while let name = list.next() { result.append(name.shown) }
        return result
    }

    @Test func `come back with those of a shot together`() {
        #expect(
            sorted([
                "IMG_10.JPG", "IMG_1.JPG", "IMG_1-2.JPG", ".IMG_1.JPG", "IMG_1", "IMG_1(2).JPG", "IMG_1.CR2.xmp",
                "IMG_1.CR2",
            ])
                == [
                    ".IMG_1.JPG", "IMG_1", "IMG_1.CR2", "IMG_1.CR2.xmp", "IMG_1.JPG", "IMG_1(2).JPG", "IMG_1-2.JPG",
                    "IMG_10.JPG",
                ])
        #expect(sorted([]).isEmpty)
        // 255 characters of vfat, in UTF-8.
        let longest = String(repeating: "\u{4e2d}", count: 255)
        let longer = longest + ".x"
        #expect(sorted([longer, longest, "a"]) == ["a", longest, longer])
    }

    @Test func `come back each once and in order, however many there are`() {
        // Without dots, so that the order of bytes is the whole order.
        let names = (0..<20_000).map { "IMG_\($0 &* 7919 % 20_011)" }
        #expect(sorted(names) == names.sorted())
    }

    @Test func `that begin alike are told from others`() {
        var list = NameList()
        for name in ["b.JPG", "a.CR2", "a.JPG"] { list.append(Path(name)) }
        list.endFilling()
        #expect(list.continues(Path("a.xmp")))
        _ = list.next()
        #expect(list.continues(Path("a.CR2")))
        _ = list.next()
        #expect(!list.continues(Path("a.JPG")))
        _ = list.next()
        #expect(!list.continues(Path("b.JPG")))
    }
}
