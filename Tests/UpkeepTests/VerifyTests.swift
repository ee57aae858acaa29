import PhotoModel
import Testing

@testable import Upkeep

@Suite("A sample of the originals") struct SampleTests {
    @Test func `takes every original in one of its parts`() throws {
        let digests = (0..<2000).map { number in
            SHA256Digest(bytes: (0..<32).map { UInt8(truncatingIfNeeded: (number &* 2_654_435_761) >> ($0 % 4 * 8)) })
        }
        var taken = 0
        for part in 1...7 {
            let sample = try VerifyOperation.Sample("\(part)/7")
            taken += digests.count { sample.includes($0) }
        }
        #expect(taken == digests.count)
    }

    @Test(arguments: ["", "0/7", "8/7", "1/0", "1", "1/7/2", "a/b", "-1/7", "1/ 7"])
    func `is refused when it is none`(text: String) {
        #expect(throws: Problem.self) { _ = try VerifyOperation.Sample(text) }
    }
}
