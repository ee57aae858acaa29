import ControlAPI
import Foundation
import TestSupport
import Testing

/// Whatever lies in a folder, and whatever came before: what `import --dry-run` says is what the import then makes.
@Suite("A dry run over random files", .tags(.saysWhatIsWrong)) struct ForecastPropertyTests {
    /// SplitMix64, so that a failure can be repeated.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }

        mutating func pick<Element>(_ choices: [Element]) -> Element {
            choices[Int.random(in: 0..<choices.count, using: &self)]
        }
        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
    }

    private static let times = [
        "2026:05:17 09:04:31", "2026:05:17 09:04:32", "2026:05:17 18:30:00", "2019:03:02 10:20:30",
    ]

    /// Small pictures, one for each time and one that knows none.
    private struct Pictures {
        var jpegs: [Data]
        /// Under a RAW's name: of a RAW that shows nothing nobody can tell for a minute whether it is still arriving.
        var tiffs: [Data]
        /// By ffmpeg, `moov` last.
        private var film: Data

        /// The film, with what ``Samples/movie(at:identifier:number:)`` says of itself at the end of its `moov`.
        func movie(at time: String, identifier: String?, number: Int) throws -> Data {
            let said = Samples.movie(at: time, identifier: identifier)
            let moov = try #require(said.firstRange(of: Data("moov".utf8)))
            let free = try #require(said.lastRange(of: Data("free".utf8)))
            let facts = said[moov.upperBound..<free.lowerBound - 4]
            let start = try #require(film.lastRange(of: Data("moov".utf8))).lowerBound - 4
            let size = UInt32(film.count - start + facts.count)
            let header = Data((0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - $0 * 8)) })
            return film[..<start] + header + film[(start + 4)...] + facts + Data([0, 0, 0, 9] + Array("free".utf8))
                + Data([UInt8(number)])
        }

        init(ffmpeg: String) throws {
            let folder = try TemporaryFolder()
            func tagged(_ plain: Data, _ name: String) throws -> [Data] {
                let path = folder.path + "/" + name
                return [plain]
                    + (try times.map { time in
                        try plain.write(to: URL(filePath: path))
                        let outcome = try Programs.run(
                            "/usr/bin/env",
                            ["exiftool", "-q", "-overwrite_original", "-DateTimeOriginal=\(time)", "-Model=Box", path])
                        try #require(outcome.status == 0, "\(outcome.errors)")
                        return try Data(contentsOf: URL(filePath: path))
                    })
            }
            let path = folder.path + "/film.mov"
            let filmed = try Programs.run(
                ffmpeg,
                [
                    "-v", "error", "-y", "-f", "lavfi", "-i", "color=red:s=64x48:d=0.4:r=5", "-c:v", "libx264",
                    "-pix_fmt", "yuv420p", path,
                ])
            try #require(filmed.status == 0, "\(filmed.errors)")
            film = try Data(contentsOf: URL(filePath: path))
            jpegs = try tagged(try Samples.small(0), "a.jpg")
            let made = try Programs.run(
                "/usr/bin/env", ["convert", "-size", "32x24", "xc:teal", folder.path + "/plain.tif"])
            try #require(made.status == 0, "\(made.errors)")
            tiffs = try tagged(try Data(contentsOf: folder.url.appending(path: "plain.tif")), "a.tif")
        }
    }

    private static func content(_ pathExtension: String, _ pictures: Pictures, _ dice: inout Dice) throws -> Data {
        let number = Int.random(in: 1...3, using: &dice)
        let mark = Data(" \(number)".utf8)
        let time = dice.pick(times)
        let day = time.prefix(10).replacing(":", with: "-") + "T" + time.suffix(8)
        if dice.chance(4) { return Data() }
        if dice.chance(6) { return Data("garbage".utf8) + mark }
        switch dice.chance(8) ? "JPG" : pathExtension.uppercased() {
        case "JPG", "THM":
            if dice.chance(15) {
                return try Samples.motionPhoto(
                    "GCamera:MicroVideo=\"1\" GCamera:MicroVideoOffset=\"\(Samples.movie(at: day + "+0200").count)\">",
                    trailer: Samples.movie(at: day + "+0200"))
            }
            return dice.pick(pictures.jpegs) + mark
        case "HEIC":
            return try Data(contentsOf: Samples.heic) + Data([0, 0, 0, 9] + Array("free".utf8) + [UInt8(number)])
        case "DNG", "NEF": return dice.pick(pictures.tiffs) + mark
        case "MOV", "MP4":
            return try pictures.movie(
                at: day + "+0200", identifier: dice.pick([nil, nil, "A1B2", "C3D4"]), number: number)
        case "XMP":
            let date = dice.chance(40) ? " exif:DateTimeOriginal=\"\(day)\"" : ""
            return Data(
                "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:Description\(date)/></x:xmpmeta>".utf8) + mark
        default: return Data("<plist><dict><key>adjustmentFormatIdentifier</key></dict></plist>".utf8) + mark
        }
    }

    private static let names = [
        "JPG", "JPG", "jpg", "HEIC", "DNG", "NEF", "MOV", "MP4", "xmp", "DNG.xmp", "JPG.xmp", "AAE", "THM", "txt",
    ]

    private func fill(_ installation: Installation, round: Int, _ pictures: Pictures, _ dice: inout Dice) throws {
        let folder = installation.drop
        for name in try installation.files(below: folder) where dice.chance(70) {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        for _ in 0..<Int.random(in: 2...9, using: &dice) {
            let (place, stem, end) = (
                dice.pick(["x", "x", "y"]), dice.pick(["A", "A", "A_1", "B"]), dice.pick(Self.names)
            )
            let url = folder.appending(path: "\(place)/\(stem).\(end)")
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Self.content(String(end.split(separator: ".").last ?? ""), pictures, &dice).write(to: url)
            // Another version each time; of those of one round some agree with each other.
            let second = 1_777_000_000 + round * 1000 + dice.pick([0, 1, 500])
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: Double(second))], ofItemAtPath: url.path)
        }
        // What nobody knows, under a name that may be wanted.
        if dice.chance(30) {
            let url = installation.library.appending(
                path: "\(dice.pick(["2019", "2026"]))/\(dice.pick(["A", "B", "Box"])).JPG")
            try? FileManager.default.createDirectory(  // there already
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            if !FileManager.default.fileExists(atPath: url.path) { try Data("stranger".utf8).write(to: url) }
        }
    }

    private func ask(_ installation: Installation, isDry: Bool) throws -> ImportBody {
        let words = ["--socket", installation.socket, "--json", "import"] + (isDry ? ["-n"] : [])
        let outcome = try Programs.run(Programs.path("photospool"), words + [installation.drop.path])
        return try JSON.decode(ImportBody.self, from: Array(outcome.output.utf8))
    }

    /// One shot after the other, for of those that are imported at the same time nobody can say which is named first: the
    /// files of the others are put aside meanwhile.
    private func importAll(_ groups: [ImportGroupBody], in installation: Installation) async throws -> [JobBody] {
        let aside = installation.folder.url.appending(path: "aside")
        try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: true)
        for (number, file) in groups.flatMap(\.files).enumerated() {
            try FileManager.default.moveItem(atPath: file.path, toPath: aside.path + "/\(number)")
        }
        var jobs: [JobBody] = []
        var number = 0
        for group in groups {
            for file in group.files {
                try FileManager.default.moveItem(atPath: aside.path + "/\(number)", toPath: file.path)
                number += 1
            }
            let done = try ask(installation, isDry: false)
            try await installation.wait(for: "the import") {
                let queue = try installation.status().queue
                return queue.queued + queue.importing == 0
            }
            if let batch = done.batchID { jobs += try installation.jobs("&batch=\(batch)") }
        }
        return jobs
    }

    private func stored(_ installation: Installation) throws -> Set<String> {
        Set(try installation.assets().flatMap(\.resources).map { "\($0.sourcePath) -> \($0.path)" })
    }

    @Test(
        .timeLimit(.minutes(6)),
        arguments: [
            ("{year}/{stem}{ext}", ""), ("{year}/{model}{ext}", ""), ("{stem} {seq:3}{ext}", ""),
            ("{stem}{ext}", "kinds = [\"photo\", \"raw\"]"),
        ], [UInt64(1), 2])
    func `says what the import then makes of each file`(setting: (String, String), seed: UInt64) async throws {
        var dice = Dice(state: seed)
        guard let ffmpeg = Programs.tool("ffmpeg") else { return print("skipped: a dry run (ffmpeg is not installed)") }
        let pictures = try Pictures(ffmpeg: ffmpeg)
        // Nothing is handed over but by hand.
        let installation = try Installation(
            dropKeys: setting.1, libraryKeys: "template = \"\(setting.0)\"")
        let text = try String(contentsOf: installation.configuration, encoding: .utf8)
        try text.replacing("settle = \"100ms\"", with: "settle = \"1h\"").write(
            to: installation.configuration, atomically: true, encoding: .utf8)
        try await installation.start()
        for round in 1...10 {
            try fill(installation, round: round, pictures, &dice)
            let before = try stored(installation)
            let groups = try ask(installation, isDry: true).groups
            let foretold = groups.flatMap(\.files)
            let jobs = try await importAll(groups, in: installation)
            let situation = "\(setting), seed \(seed), round \(round)"
            let made = try stored(installation).subtracting(before)
            let said = foretold.compactMap { file in file.libraryPath.map { "\(file.path) -> \($0)" } }
            #expect(
                made == Set(said),
                "\(situation): made \(made.subtracting(said).sorted()), said \(Set(said).subtracting(made).sorted())")
            var failed: [String: String] = [:]
            for job in jobs where !["imported", "duplicate"].contains(job.state) {
                for file in job.files { failed[file.path] = job.error?.code ?? job.state }
            }
            let refused = Set(foretold.filter { $0.outcome == "refused" }.map(\.path))
            #expect(
                Set(failed.keys) == refused,
                "\(situation): failed \(failed.filter { !refused.contains($0.key) }), not \(refused.subtracting(failed.keys))"
            )
            for group in groups {
                // The group tells why of the first that is refused.
                guard let first = group.files.first(where: { $0.outcome == "refused" }) else { continue }
                #expect(group.error?.code == failed[first.path], "\(situation): \(first.path)")
            }
        }
        installation.stop()
    }
}
