import PhotoModel
import Synchronization
import Testing

@testable import photospoold

/// A clock that a test moves.
private final class ManualClock: Sendable {
    private let time = Mutex(Duration.seconds(5000))
    var now: @Sendable () -> Duration { { [self] in time.withLock { $0 } } }
    func advance(_ seconds: Int) { time.withLock { $0 += .seconds(seconds) } }
}

@Suite("How fast photos come in") struct RatesTests {
    private let clock = ManualClock()

    @Test func `is the mean since the first of the last half minute`() {
        let rates = Rates(monotonic: clock.now)
        #expect(rates.perSecond == (0, 0))
        rates.count(files: 1, bytes: 1000)
        rates.count(files: 1, bytes: 3000)
        #expect(rates.perSecond == (2, 4000))
        clock.advance(3)
        rates.count(files: 2, bytes: 4000)
        #expect(rates.perSecond == (1, 2000))
    }

    @Test func `forgets what is older than that, and is zero in the end`() {
        let rates = Rates(monotonic: clock.now)
        rates.count(files: 30, bytes: 30)
        clock.advance(29)
        #expect(rates.perSecond == (1, 1))
        clock.advance(1)
        #expect(rates.perSecond == (0, 0))
        rates.count(files: 5, bytes: 5)
        #expect(rates.perSecond == (5, 5))
    }
}

@Suite("A reload") struct LiveSettingsTests {
    private func changed(_ change: (inout Settings) -> Void) -> Settings {
        var settings = Settings()
        change(&settings)
        return settings
    }

    @Test func `changes nothing when nothing changed`() {
        #expect(LiveSettings.needsRestart(from: Settings(), to: Settings()).isEmpty)
        #expect(LiveSettings.changes(from: Settings(), to: Settings()).isEmpty)
    }

    @Test func `names what takes a restart`() {
        let new = changed {
            $0.library.path = Path("/elsewhere")
            $0.control.mode = 0o600
            $0.importing.workers = 3
            $0.importing.deadline = .seconds(5)
        }
        let keys = LiveSettings.needsRestart(from: Settings(), to: new)
        #expect(keys == ["library.path", "control", "import.workers", "import.deadline"])
    }

    @Test func `names the tables it changed`() {
        let new = changed {
            $0.library.reserveFree = .zero
            $0.drops = [DropFolder(name: "card", path: Path("/card"))]
            $0.importing.maxAttempts = 2
            $0.preview.quality = 90
            $0.logLevel = .debug
        }
        #expect(
            LiveSettings.changes(from: Settings(), to: new) == ["library", "drop", "import", "preview", "log"])
        #expect(LiveSettings.needsRestart(from: Settings(), to: new).isEmpty)
    }
}
