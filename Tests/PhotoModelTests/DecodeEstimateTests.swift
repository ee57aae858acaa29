import PhotoModel
import Testing

/// Against what the standards say has to be held at least; that it is enough is measured on real decoders by
/// Tests/Rigs/memory.py.
@Suite("The estimate of what a decode takes") struct DecodeEstimateTests {
    private static func mebibytes(
        _ type: MediaType, _ size: PixelSize = PixelSize(width: 11_600, height: 8_700), file: Int64 = 40 << 20,
        maxSize: Int = 1200, _ change: (inout Inspection) -> Void = { _ in }
    ) -> Int64 {
        var inspection = Inspection(mediaType: type)
        inspection.coding.stored = size
        change(&inspection)
        return DecodeEstimate.bytes(of: inspection, fileSize: file, spec: PreviewSpec(maxSize: maxSize)).bytes >> 20
    }

    @Test func `of a baseline JPEG is little, for it is decoded small`() {
        #expect((100...250).contains(Self.mebibytes(.jpeg)))
        // For itself at full size it is not: three planes of 4:4:4 are 289 MiB.
        #expect(Self.mebibytes(.jpeg, maxSize: 11_600) > 289)
    }

    /// ITU-T T.81: 16 bits for each coefficient, of 4:2:0 one and a half for each pixel: 288 MiB of 100.9 megapixels.
    @Test func `of a progressive JPEG has its coefficients`() {
        let difference = Self.mebibytes(.jpeg) { $0.coding.heldPerHundred = 300 } - Self.mebibytes(.jpeg)
        #expect((287...290).contains(difference))
    }

    @Test func `of a PNG has three planes, and of an interlaced one all of it as RGBA`() {
        #expect(Self.mebibytes(.png) > 288)
        let difference = Self.mebibytes(.png) { $0.coding.heldPerHundred = 400 } - Self.mebibytes(.png)
        #expect((383...386).contains(difference))
    }

    @Test(arguments: MediaType.allCases)
    func `never overflows, however large a file says it is`(type: MediaType) {
        let huge = PixelSize(width: 1_000_000, height: 1_000_000)
        let estimate = Self.mebibytes(type, huge, file: .max, maxSize: 1_000_000) {
            $0.coding.sampleBytes = 4
            $0.coding.heldPerHundred = 2000
        }
        #expect(estimate > 0)
    }

    @Test func `of a file without a known size is that of a large photo`() {
        let unknown = DecodeEstimate.bytes(
            of: Inspection(mediaType: .heic), fileSize: 1 << 20, spec: PreviewSpec())
        #expect(unknown.bytes > 48_000_000 * 3)
    }
}
