import Files
import Foundation
import PhotoModel
import Store
import Synchronization
import TestSupport
import Testing

@testable import Ingest

/// A drop folder, a library and a state of their own, and short words for what is done with them. The decoder is left
/// out: what a file is and its preview are said by the test.
final class Scene {
    let folder: TemporaryFolder
    let store: Store
    /// nil once the library was closed; one process cannot hold its lock twice.
    private(set) var open: Library?
    var drop: DropFolder
    /// What recovery said.
    let said = Said()

    /// 2026-05-17T07:00:00Z
    static let start = Timestamp(seconds: 1_779_001_200)
    static let day = "2026/2026-05-17"

    init(afterImport: Disposition = .keep) throws {
        folder = try TemporaryFolder()
        for name in ["drop", "library", "state"] { try Self.makeFolder(folder.url.appending(path: name)) }
        store = try Store(directory: Path(folder.path + "/state"), log: { _ in }, now: Self.start)
        drop = DropFolder(name: "card", path: Path(folder.path + "/drop"))
        drop.afterImport = afterImport
        try reopen()
    }

    var library: Library {
        get throws { try #require(open) }
    }

    var librarySettings: LibrarySettings {
        var settings = LibrarySettings()
        settings.path = Path(folder.path + "/library")
        settings.reserveFree = .zero
        return settings
    }

    /// As the next process does.
    func reopen() throws {
        let known = open?.id
        close()
        open = try Library(settings: librarySettings, knownID: known, now: Self.start) { _ in }
    }

    func close() { open = nil }

    // MARK: Files

    static func makeFolder(_ url: URL) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func url(_ relative: String) -> URL { folder.url.appending(path: relative) }

    /// Writes a file, with the folders it lies in.
    func write(_ bytes: [UInt8], to relative: String) throws {
        try Self.makeFolder(url(relative).deletingLastPathComponent())
        try Data(bytes).write(to: url(relative))
    }

    func bytes(_ relative: String) throws -> [UInt8] { Array(try Data(contentsOf: url(relative))) }
    func exists(_ relative: String) -> Bool { FileManager.default.fileExists(atPath: url(relative).path) }
    func remove(_ relative: String) throws { try FileManager.default.removeItem(at: url(relative)) }

    /// Paths of the regular files below a folder, sorted.
    func files(below relative: String) -> [String] {
        var found: [String] = []
        let names = FileManager.default.enumerator(atPath: url(relative).path)
        while let name = names?.nextObject() as? String {
            if names?.fileAttributes?[.type] as? FileAttributeType == .typeRegular { found.append(name) }
        }
        return found.sorted()
    }

    /// What a person sees in the library.
    var visible: [String] { files(below: "library").filter { !$0.hasPrefix(".photospool/") } }
    var previews: [String] { files(below: "library/.photospool/previews") }
    var staging: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: url("library/.photospool/staging").path).sorted()
        }
    }

    /// The lines of the library's journal.
    func journal() throws -> [JournalLine] {
        try files(below: "library/.photospool/journal").flatMap { name in
            try String(contentsOf: url("library/.photospool/journal/" + name), encoding: .utf8).split(separator: "\n")
        }.map { try JSONDecoder().decode(JournalLine.self, from: Data($0.utf8)) }
    }

    struct JournalLine: Decodable {
        var id: Int64
        var what: String
        var job: Int64
        var sha256: String?
        var original: String?
    }

    // MARK: Jobs

    func settled(_ name: String, role: Role = .photo) throws -> SettledFile {
        let root = try Folder(opening: drop.path)
        return SettledFile(
            path: drop.path / name, role: role, filesystem: try root.filesystem().id,
            stamp: try root.status(of: Path(name)).stamp)
    }

    /// A claimed job of files that lie in the drop folder, the leading photo first.
    func claim(_ files: [SettledFile], importID: String = "import-1") throws -> Store.Claim {
        let group = SettledGroup(drop: drop.name, files: files)
        _ = try store.enqueue([group], isManual: false, batch: nil, at: Self.start)
        return try #require(try store.claim(importID: importID, blockedDrops: [], at: Self.start))
    }

    func state(_ claim: Store.Claim) throws -> JobState? { try store.job(claim.job.id)?.state }

    // MARK: Shots

    /// Drops, claims and stages a shot, as an import has it when it begins to commit.
    func stage(
        _ names: [String] = ["IMG_0001.HEIC", "IMG_0001.MOV"], importID: String = "import-1",
        asset: Asset.ID = "018f0000-0000-7000-8000-0000000000ab", variant: UInt8 = 0, withPreview: Bool = true,
        joining: Asset? = nil
    ) throws -> StagedShot {
        for (number, name) in names.enumerated() {
            try write(StagedShot.content(number, variant), to: "drop/\(importID)/\(name)")
        }
        let files = try names.enumerated().map { number, name in
            try settled("\(importID)/\(name)", role: number == 0 ? .photo : .pairedVideo)
        }
        let claim = try claim(files, importID: importID)
        let library = try library
        let staging = LibraryLayout.staging(of: importID)
        try library.root.makeFolders(at: staging, mode: 0o700)
        var staged: [StagedResource] = []
        for (number, file) in files.enumerated() {
            let bytes = StagedShot.content(number, variant)
            let stamp = try put(bytes, at: staging / String(number))
            staged.append(
                StagedResource(
                    role: file.role, source: file.path, sourceStamp: file.stamp, staged: staging / String(number),
                    sha256: SHA256.digest(of: bytes), size: Int64(bytes.count), device: stamp.device,
                    inode: stamp.inode))
        }
        var preview = PreviewStep.Result.none
        if withPreview {
            let stamp = try put(StagedShot.previewContent, at: staging / "preview.jpg")
            preview = .made(
                StagedPreview(
                    source: files[0].path,
                    picture: StagedPicture(
                        staged: staging / "preview.jpg", sha256: SHA256.digest(of: StagedShot.previewContent),
                        byteCount: Int64(StagedShot.previewContent.count), device: stamp.device, inode: stamp.inode,
                        size: PixelSize(width: 1200, height: 800)),
                    renditions: [], isPartial: false, warning: nil))
        }
        var facts = Facts()
        facts.capturedAt = WallTime(year: 2026, month: 5, day: 17, hour: 9, minute: 4, second: 31)
        let inspections = files.map { file in
            Inspection(
                mediaType: file.role == .photo ? .heic : .quicktime, facts: facts,
                dates: [CaptureDate(time: facts.capturedAt!, source: .exifOriginal)])
        }
        let builder = IntentBuilder(
            claim: claim, plan: try #require(ImportPlan(job: claim.job, settings: settings)),
            facts: ShotFacts(job: claim.job, staged: staged, inspections: inspections, now: Self.start),
            staged: staged, inspections: inspections, preview: preview, assetID: joining?.id ?? asset, joined: joining,
            sequence: claim.job.sequence, now: Self.start)
        return StagedShot(claim: claim, builder: builder, names: names, variant: variant)
    }

    private func put(_ bytes: [UInt8], at path: Path) throws -> FileStamp {
        let file = try library.root.create(path, mode: 0o640)
        try file.write(bytes)
        let stamp = try file.status().stamp
        try file.makeDurable()
        return stamp
    }

    var settings: Settings {
        var settings = Settings()
        settings.library = librarySettings
        settings.drops = [drop]
        return settings
    }

    var commitStep: CommitStep {
        get throws { CommitStep(library: try library, store: store, now: { Self.start }) }
    }

    func commit(_ shot: StagedShot, now: @escaping @Sendable () -> Timestamp = { Scene.start }) throws -> CommitIntent {
        try CommitStep(library: try library, store: store, now: now).run(
            shot.intent, claim: shot.claim, disposition: .keep, alternative: shot.builder.intent(collision:))
    }

    /// As at the next start.
    @discardableResult func recover(crashed: Bool = false) throws -> Recovery.Report {
        let disposition = drop.afterImport == .keep ? DispositionState.keep : .pending
        let said = said
        return try Recovery(
            library: try library, store: store, log: { line in said.lines.withLock { $0.append(line) } },
            now: { Self.start }, dispositionOf: { _ in disposition }
        ).run(crashed: crashed) {}
    }

    func sweep() throws {
        _ = try Sweep(library: try library, sweepAfter: .seconds(86400), now: { Self.start }, log: { _ in }).run(
            live: [])
    }

    var dispositionStep: DispositionStep {
        get throws { DispositionStep(library: try library, store: store, now: { Self.start }, log: { _ in }) }
    }
}

/// Lines of the log, in their order.
final class Said: Sendable {
    let lines = Mutex<[LogLine]>([])

    /// The values of one field over all lines.
    func values(of name: String) -> [String] {
        lines.withLock { $0.flatMap(\.fields).filter { $0.0 == name }.map(\.1) }
    }
}

/// A shot that is staged and not committed.
struct StagedShot {
    let claim: Store.Claim
    let builder: IntentBuilder
    let names: [String]
    let variant: UInt8

    var intent: CommitIntent { builder.intent(collision: 0) }

    static func content(_ number: Int, _ variant: UInt8 = 0) -> [UInt8] {
        Array("content of file \(number), variant \(variant)".utf8)
    }
    static let previewContent = Array("a preview".utf8)

    /// Where the files of the shot are seen in the library and what they hold, with `suffix` behind their stem.
    func expected(_ suffix: String = "") -> [String: [UInt8]] {
        var expected: [String: [UInt8]] = [:]
        for (number, name) in names.enumerated() {
            let path = Path(name)
            expected["\(Scene.day)/\(path.stem.shown)\(suffix)\(path.suffix.shown)"] = Self.content(number, variant)
        }
        return expected
    }
}

extension Scene {
    /// Everything that is seen in the library, with its bytes.
    func contents() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for path in visible { found[path] = try bytes("library/" + path) }
        return found
    }
}

/// The code of the problem that `body` throws; nil when it throws none.
func code(_ body: () throws -> Void) -> Problem.Code? {
    do {
        try body()
        return nil
    } catch let problem as Problem {
        return problem.code
    } catch {
        Issue.record("not a problem: \(error)")
        return nil
    }
}

/// A disk on which renames work a number of times and then fail for good.
final class FailingDisk: Sendable {
    private let left: Mutex<Int>

    init(renamesBefore count: Int) { left = Mutex(count) }

    var calls: MoveCalls {
        var calls = MoveCalls.live
        calls.rename = { [self] (from, to, root) throws(Errno) in
            let mayGoOn = left.withLock { left in
                left -= 1
                return left >= 0
            }
            guard mayGoOn else { throw Errno.io }
            try MoveCalls.live.rename(from, to, root)
        }
        return calls
    }
}
