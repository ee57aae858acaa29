import PhotoModel
import Testing

@Suite("A capture time") struct CaptureDateTests {
    /// 2026-05-17T07:04:31Z, by date(1).
    private static let now = Timestamp(seconds: 1_779_001_471)
    private static let modified = WallTime(year: 2019, month: 3, day: 1, hour: 12)

    private static func at(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0) -> WallTime {
        WallTime(year: year, month: month, day: day, hour: hour)
    }

    private static func chosen(_ dates: [CaptureDate], name: String = "IMG_0001.JPG") -> CaptureDate {
        CaptureDate.choose(from: dates, name: Path(name), modified: modified, now: now)
    }

    /// Original 2017, digitized 2002, modified 2020.
    @Test func `G15 is the original one, whatever the order in the file`() {
        let date = Self.chosen([
            CaptureDate(time: Self.at(2020, 1, 1), source: .exifModified),
            CaptureDate(time: Self.at(2002, 1, 1), source: .exifDigitized),
            CaptureDate(time: Self.at(2017, 1, 1), offset: "+02:00", source: .exifOriginal),
        ])
        #expect(date == CaptureDate(time: Self.at(2017, 1, 1), offset: "+02:00", source: .exifOriginal))
    }

    @Test func `in XMP comes before EXIF's time of modification`() {
        let modified = CaptureDate(time: Self.at(2020, 1, 1), source: .exifModified)
        let xmp = CaptureDate(time: Self.at(2010, 7, 11, 13), offset: "+02:00", source: .xmp)
        #expect(Self.chosen([modified, xmp]) == xmp)
        #expect(Self.chosen([modified]) == modified)
    }

    @Test(arguments: [
        at(1970, 1, 1), at(1980, 1, 1), at(1989, 12, 31), at(0, 0, 0), at(2013, 13, 1), at(2023, 2, 29),
        at(2050, 12, 31),
        at(2026, 5, 19), at(9999, 1, 1),
    ]) func `G11 G12 that no camera can have meant is passed over for the next one`(time: WallTime) {
        let digitized = CaptureDate(time: Self.at(2012, 4, 5), source: .exifDigitized)
        #expect(Self.chosen([CaptureDate(time: time, source: .exifOriginal), digitized]) == digitized)
        let fallback = Self.chosen([CaptureDate(time: time, source: .exifOriginal)])
        #expect(fallback == CaptureDate(time: Self.modified, source: .mtime))
    }

    @Test func `G11 that is passed over is remembered when the file says it first`() {
        let future = CaptureDate(time: Self.at(2050, 12, 31), offset: "+01:00", source: .exifOriginal)
        let digitized = CaptureDate(time: Self.at(2012, 4, 5), source: .exifDigitized)
        let nothing = CaptureDate(time: Self.at(0, 0, 0), source: .exifOriginal)
        func said(_ dates: [CaptureDate]) -> CaptureDate? { CaptureDate.implausible(in: dates, now: Self.now) }
        #expect(said([digitized, future]) == future)
        #expect(said([future]) == future)
        #expect(said([]) == nil)
        #expect(said([nothing]) == nil)
        // Zeros say nothing; what comes next says something.
        #expect(said([nothing, digitized]) == nil)
        #expect(said([nothing, CaptureDate(time: Self.at(1980, 1, 1), source: .exifModified)])?.time.year == 1980)
        // What is worse than what counts is of no interest.
        #expect(said([digitized, CaptureDate(time: Self.at(2050, 1, 1), source: .exifModified)]) == nil)
    }

    @Test(arguments: [
        (at(1990, 1, 1), nil), (at(2024, 2, 29), nil), (at(2026, 5, 18, 7), nil), (at(2026, 5, 18, 20), "+14:00"),
    ])
    func `at the edge is taken`(time: WallTime, offset: String?) {
        let date = CaptureDate(time: time, offset: offset, source: .exifOriginal)
        #expect(Self.chosen([date]) == date)
    }

    @Test func `too far ahead only once its offset is taken into account is passed over`() {
        let date = CaptureDate(time: Self.at(2026, 5, 18, 6), offset: "-05:00", source: .exifOriginal)
        #expect(Self.chosen([date]).source == .mtime)
    }

    @Test(arguments: [
        ("IMG_20180725_163423.jpg", "2018-07-25T16:34:23"),
        ("20180725_163423.mp4", "2018-07-25T16:34:23"),
        ("20180725163423.jpg", "2018-07-25T16:34:23"),
        ("PXL_20230706_101112123.jpg", "2023-07-06T10:11:12.123"),
        ("Screenshot_20230101-123456.png", "2023-01-01T12:34:56"),
        ("Screenshot 2023-05-17 at 09.04.31.png", "2023-05-17T09:04:31"),
        ("2019-05-17 12.34.56.jpg", "2019-05-17T12:34:56"),
        ("2019_05_17_12_34_56.jpg", "2019-05-17T12:34:56"),
        ("signal-2020-01-02-123456.jpeg", "2020-01-02T12:34:56"),
        ("IMG-20200101-WA0001.jpg", "2020-01-01T00:00:00"),
        ("VID_20180725_163423~2.mp4", "2018-07-25T16:34:23"),
    ]) func `is read out of a name`(name: String, text: String) {
        let date = Self.chosen([], name: name)
        #expect(date.time.text == text)
        #expect(date.source == .filename)
    }

    @Test(arguments: [
        "IMG_0001.JPG", "DSC20180.JPG", "123456789012.jpg", "20181325_101010.jpg", "19700101_000000.jpg",
        "8201807251.jpg",
        "20501231_101010.jpg", "2018-0725.jpg", "", "1.jpg",
    ]) func `is not read out of a name that tells none`(name: String) {
        #expect(Self.chosen([], name: name) == CaptureDate(time: Self.modified, source: .mtime))
    }

    @Test(arguments: [
        ("+02:00", 7200), ("-09:30", -34_200), ("+14:45", 53_100), ("Z", 0), ("+0000", 0),
        ("+5:30", 19_800), ("-9:45", -35_100), ("+09:00:00", 32_400),
    ]) func `understands offsets`(text: String, seconds: Int) {
        #expect(CaptureDate.seconds(ofOffset: text) == seconds)
    }

    @Test(arguments: [
        "", "+", "02:00", "+200", "+02:60", "+02:00:", "+02:00:30", "+02::00", "+02:00:00:00", "+16:00", "   :  ",
        "+02:0a", "+020:0",
    ])
    func `takes no nonsense for an offset`(text: String) {
        #expect(CaptureDate.seconds(ofOffset: text) == nil)
    }
}
