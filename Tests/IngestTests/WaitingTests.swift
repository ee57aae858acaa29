import PhotoModel
import Synchronization
import Testing

@testable import Ingest

/// A clock that a test moves.
final class ManualClock: Sendable {
    private let time = Mutex(Duration.seconds(1000))
    var now: @Sendable () -> Duration { { [self] in time.withLock { $0 } } }
    func advance(_ seconds: Int) { time.withLock { $0 += .seconds(seconds) } }
}

@Suite("An outage") struct OutageTests {
    private let clock = ManualClock()

    private func problem(_ code: Problem.Code = .libraryFull) -> Problem { Problem(code, "No space.") }

    @Test func `stops work, is news once, and is probed after two seconds and again after as long`() {
        let outages = Outages(isPaused: false, monotonic: clock.now)
        #expect(outages.mayWork)
        #expect(outages.begin(problem()))
        #expect(!outages.begin(problem()))
        #expect(!outages.mayWork)
        #expect(outages.reasons.map(\.code) == [.libraryFull])
        clock.advance(1)
        #expect(outages.due().isEmpty)
        clock.advance(1)
        #expect(outages.due().map(\.code) == [.libraryFull])
        #expect(outages.due().isEmpty)
        clock.advance(2)
        #expect(outages.due().count == 1)
    }

    @Test func `is probed in time however often it is met meanwhile`() {
        let outages = Outages(isPaused: false, monotonic: clock.now)
        outages.begin(problem())
        var probes = 0
        for _ in 0..<10 {
            clock.advance(1)
            probes += outages.due().count
            outages.begin(problem())
        }
        #expect(probes == 5)
    }

    @Test func `that comes back at once waits twice as long each time, up to a minute`() {
        let outages = Outages(isPaused: false, monotonic: clock.now)
        var gaps: [Int] = []
        for _ in 0..<8 {
            outages.begin(problem())
            var gap = 0
            while outages.due().isEmpty {
                clock.advance(1)
                gap += 1
            }
            gaps.append(gap)
            outages.end(.libraryFull)
            #expect(outages.mayWork)
            clock.advance(1)
        }
        #expect(gaps == [2, 4, 8, 16, 32, 60, 60, 60])
    }

    @Test func `that comes back after a calm starts afresh`() {
        let outages = Outages(isPaused: false, monotonic: clock.now)
        for _ in 0..<3 {
            outages.begin(problem())
            outages.end(.libraryFull)
        }
        clock.advance(60)
        #expect(outages.begin(problem()))
        clock.advance(2)
        #expect(outages.due().count == 1)
    }

    @Test func `ends alone: work goes on when all are over and nobody paused it`() {
        let outages = Outages(isPaused: false, monotonic: clock.now)
        outages.begin(problem(.libraryFull))
        outages.begin(problem(.stateIO))
        outages.end(.libraryFull)
        #expect(!outages.mayWork)
        #expect(outages.reasons.map(\.code) == [.stateIO])
        outages.setPaused(true)
        outages.end(.stateIO)
        #expect(!outages.mayWork)
        #expect(outages.reasons.isEmpty)
        outages.setPaused(false)
        #expect(outages.mayWork)
    }

    @Test func `tells of its latest cause`() {
        let outages = Outages(isPaused: false, monotonic: clock.now)
        outages.begin(Problem(.libraryFull, "10 bytes free."))
        outages.begin(Problem(.libraryFull, "5 bytes free."))
        #expect(outages.reasons.map(\.whatHappened) == ["5 bytes free."])
    }
}

@Suite("The ledger of space") struct SpaceLedgerTests {
    private let ledger = SpaceLedger()

    private func share(_ bytes: Int64, free: Int64 = 1000, reserve: Int64 = 100) -> SpaceLedger.Share? {
        ledger.share(bytes, free: ByteCount(free), reserve: ByteCount(reserve))
    }

    @Test func `promises what fits beside the promises before and the reserve`() {
        let first = share(500)
        #expect(first != nil)
        #expect(share(401) == nil)
        var second = share(400)
        #expect(second != nil)
        #expect(share(1) == nil)
        second = nil  // an import that ended
        #expect(share(400) != nil)
        withExtendedLifetime(first) {}
    }

    @Test func `does not overflow at sizes that no disk has`() {
        #expect(share(.max, free: .max, reserve: 1) == nil)
        #expect(share(1, free: .max, reserve: 0) != nil)
    }

    @Test func `counts what was written only once: the disk's free space says it`() throws {
        let first = try #require(share(800, reserve: 0))
        // 700 of the 800 are on the disk, which has 300 left; 100 of them are promised.
        first.wrote(700)
        #expect(share(201, free: 300, reserve: 0) == nil)
        #expect(share(200, free: 300, reserve: 0) != nil)
    }

    @Test func `takes back no more than it gave, however much was written`() {
        var first = share(10)
        first?.wrote(1000)
        first?.wrote(-5)
        first = nil
        #expect(share(900) != nil)
        #expect(share(901) == nil)
    }
}

@Suite("The schedule of retries") struct RetryScheduleTests {
    @Test func `begins at five seconds, doubles, and ends at an hour`() {
        let gaps = (1...12).map { RetrySchedule.gap(afterAttempt: $0, jitter: 0) }
        #expect(gaps == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600].map { .seconds($0) })
    }

    @Test(arguments: [Int.min, -1, 0, 1, 8, 64, 1000, .max], [-.infinity, -5, -1, 0, 1, 5, .infinity] as [Double])
    func `stays within a fifth of its bounds, whatever it is asked`(attempt: Int, jitter: Double) {
        let gap = RetrySchedule.gap(afterAttempt: attempt, jitter: jitter)
        #expect(gap >= .seconds(4))
        #expect(gap <= .seconds(4320))
    }
}

@Suite("A bell") struct BellTests {
    @Test func `wakes at once whoever missed a ring, and otherwise at the next`() async {
        let bell = Bell()
        let seen = bell.count
        bell.ring()
        await bell.wait(after: seen)
        let now = bell.count
        await withTaskGroup { group in
            for _ in 0..<10 { group.addTask { await bell.wait(after: now) } }
            group.addTask { bell.ring() }
            await group.waitForAll()
        }
        #expect(bell.count == now + 1)
    }
}
