import PhotoModel
import Testing

@Suite("Files of one stem that were looked at") struct PartingTests {
    /// `NAME second identifier`, each but the name `-` for unknown; `!` before a name for a broken file.
    private func member(_ text: String) -> Parting.Member {
        let words = text.split(separator: " ").map(String.init)
        let isBroken = words[0].hasPrefix("!")
        let name = Path(String(words[0].drop { $0 == "!" }))
        let second = words.count > 1 ? Int(words[1]) : nil
        return Parting.Member(
            name: name, isShot: ShotName(name).kind.isMedia,
            contentIdentifier: words.count > 2 && words[2] != "-" ? words[2] : nil,
            date: second.map { CaptureDate(time: Self.time($0), source: .exifOriginal) }, isBroken: isBroken)
    }

    private static func time(_ second: Int) -> WallTime {
        WallTime(secondsSince1970: WallTime(year: 2026, month: 5, day: 17, hour: 9).secondsAsUTC + Int64(second))
    }

    private func parts(_ members: [String]) -> [[String]] {
        Parting.parts(of: members.map(member)).map { part in
            part.map { members[$0].split(separator: " ").first.map { String($0.drop { $0 == "!" }) } ?? "" }
        }
    }

    @Test(
        arguments: [
            (["A.HEIC 10", "A.MOV 12"], [["A.HEIC", "A.MOV"]]),
            (["A.HEIC 10", "A.MOV 13"], [["A.HEIC"], ["A.MOV"]]),
            (["A.HEIC 10", "A.MOV -"], [["A.HEIC", "A.MOV"]]),
            // An identifier says more than a clock.
            (["A.HEIC 10 X", "A.MOV 500 X"], [["A.HEIC", "A.MOV"]]),
            (["A.HEIC 10 X", "A.MOV 10 Y"], [["A.HEIC"], ["A.MOV"]]),
            (["A.HEIC 10 X", "A.MOV 10 -"], [["A.HEIC", "A.MOV"]]),
            (["A.HEIC 10 X", "A.JPG 99", "A.MOV 99 X"], [["A.HEIC", "A.MOV"], ["A.JPG"]]),
            (["A.JPG 10", "A.CR2 10", "A.DNG 11"], [["A.JPG", "A.CR2", "A.DNG"]]),
            // A RAW made of another camera's file of the same number.
            (["A.JPG 10", "A.CR2 10", "A.DNG 77"], [["A.JPG", "A.CR2"], ["A.DNG"]]),
            (["A.HEIC 1", "A.JPG 50", "A.MOV 99"], [["A.HEIC"], ["A.JPG"], ["A.MOV"]]),
            (["A.xmp", "A.AAE"], [["A.xmp", "A.AAE"]]),
            ([], []),
        ] as [([String], [[String]])])
    func `are parted where identifiers or times disagree`(members: [String], expected: [[String]]) {
        #expect(parts(members) == expected)
        // What was parted stays parted, and is not parted further.
        for part in expected {
            #expect(
                parts(members.filter { line in part.contains { line == $0 || line.hasPrefix($0 + " ") } }) == [part])
        }
    }

    @Test(
        arguments: [
            (
                ["A.JPG 10", "A.CR2 77", "A.CR2.xmp", "A.xmp", "A.jpg.xmp", "A.AAE"],
                [["A.JPG", "A.jpg.xmp", "A.AAE"], ["A.CR2", "A.CR2.xmp", "A.xmp"]]
            ),
            (["A.JPG 10", "A.MOV 77", "A.THM", "A.WAV"], [["A.JPG", "A.WAV"], ["A.MOV", "A.THM"]]),
            // By its own time, where it has only the stem; and corrected, by its stem again.
            (["A.JPG 10", "A.CR2 77", "A.xmp 11"], [["A.JPG", "A.xmp"], ["A.CR2"]]),
            (["A.JPG 10", "A.CR2 77", "A.xmp 4000"], [["A.JPG"], ["A.CR2", "A.xmp"]]),
            (["A.JPG 10", "A.CR2 77", "A.JPG.xmp 77"], [["A.JPG", "A.JPG.xmp"], ["A.CR2"]]),
        ] as [([String], [[String]])])
    func `F07 take along what is of them`(members: [String], expected: [[String]]) {
        #expect(parts(members) == expected)
    }

    @Test func `leave alone what is broken, with what is of it by name`() {
        #expect(parts(["A.HEIC 10", "!A.MOV", "A.AAE"]) == [["A.HEIC", "A.AAE"], ["A.MOV"]])
        #expect(parts(["!A.JPG", "A.CR2 10", "A.JPG.xmp", "A.xmp"]) == [["A.JPG", "A.JPG.xmp"], ["A.CR2", "A.xmp"]])
        #expect(parts(["!A.JPG", "!A.CR2"]) == [["A.JPG"], ["A.CR2"]])
    }

    @Test(
        arguments: [
            ("A.xmp", 1), ("A.CR2.xmp", 1), ("A.JPG.xmp", 0), ("A.jpg.xmp", 0), ("A.MOV.xmp", 2), ("A.pp3", 1),
            ("A.AAE", 0), ("A.WAV", 0), ("A.THM", 2), ("A.srt", 2), ("A.json", 0), ("A.cr2.json", 1),
            ("A.PNG.xmp", 1),
        ] as [(String, Int)])
    func `F07 each have the companions that their names, or who writes them, say`(companion: String, member: Int) {
        let members = ["A.JPG", "A.CR2", "A.MOV"].map { Path($0) }
        #expect(Attachment.member(of: Path(companion), among: members) == member)
        #expect(Attachment.member(of: Path(companion), among: []) == nil)
    }

    // MARK: Times

    @Test func `have the time of the shot, and not that of a program or of a day`() {
        func own(_ dates: CaptureDate...) -> DateSource? {
            Inspection(dates: dates).ownDate(now: Timestamp(seconds: 1_790_000_000))?.source
        }
        let day = WallTime(year: 2026, month: 5, day: 17)
        #expect(own(CaptureDate(time: Self.time(1), source: .exifModified)) == nil)
        #expect(own(CaptureDate(time: day, source: .xmp)) == nil)
        #expect(own(CaptureDate(time: day, offset: "+02:00", source: .xmp)) == .xmp)
        #expect(own(CaptureDate(time: day, source: .exifDigitized)) == .exifDigitized)
        let epoch = CaptureDate(time: WallTime(year: 1970, month: 1, day: 1), source: .exifOriginal)
        #expect(own(epoch, CaptureDate(time: Self.time(1), source: .quicktime)) == .quicktime)
        #expect(own(CaptureDate(time: Self.time(1), source: .takeout)) == nil)
    }

    private static func movie(_ seconds: Int, zone: Int) -> CaptureDate {
        CaptureDate(time: time(seconds), source: .quicktime, isUniversal: true).local { _ in zone }
    }

    /// 09:00:10 where the photo was taken. The movie holds UTC, and the machine lies in Kathmandu or in Lisbon.
    @Test(arguments: [0, 3600, 20_700])
    func `agree with a movie that tells only UTC in whatever zone it was taken`(zone: Int) {
        let photo = CaptureDate(time: Self.time(10), source: .exifOriginal)
        let known = CaptureDate(time: Self.time(10), offset: "+09:00", source: .exifOriginal)
        // Nine hours before: Tokyo. The same: a camera that writes its wall clock there.
        for seconds in [10 - 9 * 3600, 11] {
            #expect(Self.movie(seconds, zone: zone).agrees(photo))
            #expect(photo.agrees(Self.movie(seconds, zone: zone)))
            #expect(Self.movie(seconds, zone: zone).agrees(known))
        }
        #expect(!Self.movie(10 - 9 * 3600 + 5, zone: zone).agrees(photo))
        #expect(!Self.movie(10 - 26 * 3600, zone: zone).agrees(photo))
        // Where the photo says that it was Tokyo, London is another moment.
        #expect(!Self.movie(10 - 3600, zone: zone).agrees(known))
    }
}
