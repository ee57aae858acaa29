import Files
import PhotoModel
import Testing

@testable import Ingest

@Suite("The plan of an import") struct PlanTests {
    private func job(_ path: String = "/drop/card/IMG_1.JPG", drop: String = "card", isManual: Bool = false) -> Job {
        let file = SettledFile(
            path: Path(path), role: .photo, filesystem: "00000000000000ff",
            stamp: FileStamp(device: 1, inode: 2, size: 3, mtime: 4))
        return Job(
            id: 1, state: .copying, drop: drop, batch: 1, sequence: 1, attempts: 1, crashes: 0, files: [file],
            problem: nil, disposition: .keep, dispositionProblem: nil, notBefore: nil, asset: nil,
            createdAt: Scene.start, finishedAt: nil, isManual: isManual)
    }

    private func settings(
        _ afterImport: Disposition = .keep, verify: ImportSettings.Verify = .copy,
        change: (inout DropFolder) -> Void = { _ in }
    ) -> Settings {
        var settings = Settings()
        var drop = DropFolder(name: "card", path: Path("/drop/card"))
        drop.afterImport = afterImport
        change(&drop)
        settings.drops = [drop]
        settings.importing.verify = verify
        return settings
    }

    @Test func `asks for room for the files, the preview and every rendition`() throws {
        var settings = settings()
        settings.preview.maxSize = 3000
        let plain = try #require(ImportPlan(job: job(), settings: settings))
        #expect(Importer.room(for: job(), plain) >= 3 + 3000 * 3000)
        settings.preview.renditions = [
            RenditionSpec(name: "a", maxSize: 2000), RenditionSpec(name: "b", maxSize: 4000),
        ]
        let plan = try #require(ImportPlan(job: job(), settings: settings))
        #expect(Importer.room(for: job(), plan) - Importer.room(for: job(), plain) >= 2000 * 2000 + 4000 * 4000)
    }

    @Test(.tags(.neverLost), arguments: [Disposition.move, .delete])
    func `always reads back what will be moved or deleted`(disposition: Disposition) throws {
        let plan = try #require(ImportPlan(job: job(), settings: settings(disposition, verify: .copy)))
        #expect(plan.verify == .readback)
        #expect(plan.dispositionAfterImport == .pending)
    }

    @Test func `H12 keeps a source that a person named, whatever the drop says, and verifies as configured`() throws {
        let plan = try #require(ImportPlan(job: job(isManual: true), settings: settings(.delete, verify: .copy)))
        #expect(plan.dispositionAfterImport == .keep)
        #expect(plan.verify == .copy)
        let kept = try #require(ImportPlan(job: job(), settings: settings(.keep, verify: .readback)))
        #expect(kept.verify == .readback)
    }

    @Test func `takes the drop's template and album before the library's and the drop's name`() throws {
        let usual = try #require(ImportPlan(job: job(), settings: settings()))
        #expect(usual.template.text == NamingTemplate.usual)
        #expect(usual.collection == "card")
        let own = settings {
            $0.template = "{drop}/{stem}{ext}"
            $0.collection = "Album"
        }
        let plan = try #require(ImportPlan(job: job(), settings: own))
        #expect(plan.template.text == "{drop}/{stem}{ext}")
        #expect(plan.collection == "Album")
    }

    @Test func `is none for a drop that is no longer configured, but for paths below a root that is`() throws {
        #expect(ImportPlan(job: job("/elsewhere/x.jpg", drop: "gone"), settings: settings()) == nil)
        var roots = settings()
        roots.control.importRoots = [Path("/elsewhere")]
        let plan = try #require(ImportPlan(job: job("/elsewhere/x.jpg", drop: "import"), settings: roots))
        #expect(plan.root == Path("/elsewhere"))
        #expect(plan.dispositionAfterImport == .keep)
    }
}

@Suite("Where the files of a shot stand") struct PlacementTests {
    private func renumbered(_ paths: [String], _ number: Int = 2) -> [String] {
        Placement.renumbered(paths.map { Path($0) }, try: number).map(\.shown)
    }

    @Test func `keeps one stem for all when it has to be numbered`() {
        #expect(renumbered(["a/IMG_0001.HEIC", "a/IMG_0001.MOV"]) == ["a/IMG_0001-2.HEIC", "a/IMG_0001-2.MOV"])
        #expect(
            renumbered(["a/IMG_0001.CR2.xmp", "a/IMG_0001.CR2"], 7) == ["a/IMG_0001-7.CR2.xmp", "a/IMG_0001-7.CR2"])
        #expect(renumbered(["IMG_0001.JPG"]) == ["IMG_0001-2.JPG"])
        #expect(renumbered(["a/NOEXTENSION"]) == ["a/NOEXTENSION-2"])
        #expect(renumbered([]) == [])
    }

    @Test func `keeps sidecars apart that differ in case only`() {
        #expect(
            renumbered(["a/IMG_1.JPG", "a/IMG_1.xmp", "a/IMG_1.XMP"])
                == ["a/IMG_1-2.JPG", "a/IMG_1-2.xmp", "a/IMG_1-2-2.XMP"])
        let long = String(repeating: "n", count: 251)
        let names = renumbered(["a/\(long).xmp", "a/\(long).XMP"], 12)
        #expect(Set(names.map { $0.lowercased() }).count == 2)
        #expect(names.allSatisfy { $0.utf8.count <= 257 })
    }

    @Test func `G07 stays within 255 bytes and whole characters, and files that differ stay different`() {
        let long = String(repeating: "é", count: 125)  // 250 bytes
        let names = Placement.renumbered([Path("a/\(long).HEIC"), Path("a/\(long).MOV")], try: 12)
        #expect(names.allSatisfy { $0.name.bytes.count <= 255 && $0.isText })
        #expect(Set(names).count == 2)
        #expect(names[0].stem == names[1].stem)
        #expect(names.map(\.suffix.shown) == [".HEIC", ".MOV"])
        #expect(names[0] != Placement.renumbered([Path("a/\(long).HEIC")], try: 13)[0])
    }

    @Test func `never meets itself: every number gives another name`() {
        let names = (2...50).flatMap { renumbered(["a/IMG_0001.HEIC", "a/IMG_0001.MOV"], $0) }
        #expect(Set(names).count == names.count)
    }
}
