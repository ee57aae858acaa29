import PhotoModel
import Store
import Testing

@testable import Upkeep

@Suite("A mirror that fails") struct MirrorOutageTests {
    private static let place = Store.ResourcePlace(asset: "one", position: 0)

    /// The gaps of so many failures in a row.
    private func gaps(_ code: Problem.Code, _ count: Int) -> [Int64] {
        var outage: MirrorOutage?
        return (0..<count).map { _ in
            let next = MirrorOutage(
                Problem(code, "It failed."), at: Self.place, after: outage, hasAdvanced: false, now: .seconds(100))
            outage = next
            #expect(!next.isDue(at: .seconds(100)) && next.isDue(at: .seconds(100) + next.gap))
            return next.gap.components.seconds
        }
    }

    @Test func `is tried in growing gaps, one that is absent at least every ten seconds`() {
        #expect(gaps(.libraryFull, 8) == [2, 4, 8, 16, 32, 60, 60, 60])
        #expect(gaps(.libraryIO, 3) == [2, 4, 8])
        #expect(gaps(.libraryOffline, 5) == [2, 4, 8, 10, 10])
        #expect(gaps(.marker, 5) == [2, 4, 8, 10, 10])
    }

    @Test func `is tried soon where it got something meanwhile`() {
        let first = MirrorOutage(
            Problem(.libraryIO, "x"), at: Self.place, after: nil, hasAdvanced: false, now: .zero)
        let second = MirrorOutage(
            Problem(.libraryIO, "x"), at: Self.place, after: first, hasAdvanced: true, now: .zero)
        #expect(second.gap == .seconds(2))
    }

    @Test func `is tried soon where it fails further on than before`() {
        let other = Store.ResourcePlace(asset: "two", position: 0)
        func failure(_ place: Store.ResourcePlace?, after before: MirrorOutage?) -> MirrorOutage {
            MirrorOutage(Problem(.libraryIO, "x"), at: place, after: before, hasAdvanced: false, now: .zero)
        }
        let twice = failure(Self.place, after: failure(Self.place, after: nil))
        #expect(failure(other, after: twice).gap == .seconds(2))
        #expect(failure(Self.place, after: twice).gap == .seconds(8))
        #expect(failure(nil, after: twice).gap == .seconds(8))
    }

    @Test func `at one original again and again goes on without it`() {
        func failure(_ place: Store.ResourcePlace?, after before: MirrorOutage?) -> MirrorOutage {
            MirrorOutage(Problem(.libraryIO, "x"), at: place, after: before, hasAdvanced: false, now: .zero)
        }
        let other = Store.ResourcePlace(asset: "two", position: 0)
        let first = failure(Self.place, after: nil)
        #expect(first.stumblingBlock == nil)
        #expect(failure(other, after: first).stumblingBlock == nil)
        #expect(failure(Self.place, after: first).stumblingBlock == Self.place)
        #expect(failure(nil, after: failure(nil, after: nil)).stumblingBlock == nil)
    }
}
