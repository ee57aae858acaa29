import PhotoModel
import Testing

@Suite("The size and turn of a preview") struct GeometryTests {
    @Test(
        "has the longer side at the limit, the other rounded to nearest, and never grows",
        arguments: [
            ((4032, 3024), (1200, 900)), ((3024, 4032), (900, 1200)), ((6000, 4000), (1200, 800)),
            ((479, 159), (479, 159)), ((1617, 1080), (1200, 801)), ((1204, 800), (1200, 797)),
            ((50_000, 10), (1200, 1)), ((1, 5000), (1, 1200)), ((1, 1), (1, 1)), ((1200, 1200), (1200, 1200)),
            ((1201, 1), (1200, 1)), ((2400, 1001), (1200, 501)),
        ])
    func size(shown: (Int, Int), expected: (Int, Int)) {
        let size = PreviewGeometry.size(of: PixelSize(width: shown.0, height: shown.1), maxSize: 1200)
        #expect(size == PixelSize(width: expected.0, height: expected.1))
    }

    @Test(arguments: [0, 9, 65_535, -1]) func `takes an illegal orientation for upright`(value: Int) {
        #expect(Orientation(exif: value) == .upright)
    }

    /// Two mirrors are a half turn, four quarter turns are none, a quarter turn and a mirror are a transposition.
    @Test func `composes turns and mirrors`() {
        func exif(_ value: Int) -> Orientation { Orientation(exif: value) }
        #expect(exif(2).then(exif(4)) == exif(3))
        #expect(exif(6).then(exif(6)) == exif(3))
        #expect(exif(6).then(exif(8)) == .upright)
        #expect(exif(8).then(exif(4)) == exif(5))
        #expect(exif(6).then(exif(2)) == exif(5))
        #expect(exif(6).then(exif(4)) == exif(7))
        for first in 1...8 {
            #expect(exif(first).then(.upright) == exif(first))
            let shown = exif(first).shown(PixelSize(width: 3, height: 2))
            #expect((shown.width == 2) == (first >= 5))
        }
    }
}
