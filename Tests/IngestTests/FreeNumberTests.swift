import PhotoModel
import Testing

@testable import Ingest

@Suite("The search for a free name", .tags(.neverOverwritten)) struct FreeNumberTests {
    @Test func `takes one after the other and looks some thirty times for the ten thousandth`() throws {
        var taken: Set<Int> = []
        var looks = 0
        for expected in 0..<10_000 {
            let number = try FreeNumber.first { number in
                looks += 1
                return !taken.contains(number)
            }
            #expect(number == expected)
            taken.insert(try #require(number))
        }
        // One by one it would be 50,005,000.
        #expect(looks < 10_000 * 30, "\(looks)")
    }

    @Test(arguments: [UInt32(1), 2, 3, 4, 5]) func `finds what is free behind what is taken, wherever there are gaps`(
        seed: UInt32
    ) throws {
        var state = seed
        var taken: Set<Int> = []
        for number in 0..<3000 {
            state = state &* 1_664_525 &+ 1_013_904_223
            if state >> 24 > 20 { taken.insert(number) }
        }
        for start in [0, 1, 17, 500, 2999, 3000] {
            let number = try #require(try FreeNumber.first(from: start) { !taken.contains($0) })
            #expect(number >= start && !taken.contains(number))
            #expect(number == start || taken.contains(number - 1))
        }
    }

    @Test func `gives up soon where nothing is ever free`() throws {
        var looks = 0
        let number = try FreeNumber.first { _ in
            looks += 1
            return false
        }
        #expect(number == nil && looks < 40)
    }
}
