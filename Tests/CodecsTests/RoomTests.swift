import CTurboJPEG
import PhotoModel
import Testing

@testable import Codecs

@Suite("The room that pictures take") struct RoomTests {
    /// Nothing is harder to pack than noise.
    @Test(arguments: [1, 82, 90, 95, 100]) func `is never more than was asked for, of noise, renditions and all`(
        quality: Int
    ) throws {
        var state: UInt32 = 1
        let noise = Card(width: 1500, height: 1500) { _, _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return (UInt8(state >> 24), UInt8(state >> 16 & 255), UInt8(state >> 8 & 255))
        }
        let spec = PreviewSpec(
            maxSize: 1500, quality: quality,
            renditions: [
                RenditionSpec(name: "large", maxSize: 1400),
                RenditionSpec(name: "square", maxSize: 1300, crop: .square),
            ])
        let result = try preview(try noise.jpeg(quality: 100), spec: spec)
        try #require(result.renditions.count == 2)
        let bytes = result.renditions.reduce(result.jpeg.count) { $0 + $1.jpeg.count }
        #expect(bytes <= spec.mostBytes)
        // So much that the preview's share alone would not do.
        if quality == 82 { #expect(bytes > PreviewSpec(maxSize: 1500, quality: quality).mostBytes) }
    }
}
