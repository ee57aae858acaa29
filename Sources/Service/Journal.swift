internal import Files
package import PhotoModel
internal import Synchronization

/// The daemon's log: filters by level, holds back what repeats, and writes each line to where it is read best.
package final class Journal: Sendable {
    private let state: Mutex<(level: LogLevel, repeats: RepeatFilter)>
    private let write: @Sendable (LogLine) -> Void
    private let now: @Sendable () -> Duration

    /// - Parameter sink: ``LogSink/standardError()`` under systemd, in a terminal and in a pipe.
    package convenience init(level: LogLevel, sink: LogSink) {
        self.init(level: level, write: { sink.write($0) }, now: { SystemClock.monotonic() })
    }

    init(
        level: LogLevel, write: @escaping @Sendable (LogLine) -> Void, now: @escaping @Sendable () -> Duration
    ) {
        state = Mutex((level, RepeatFilter()))
        self.write = write
        self.now = now
    }

    /// What the rooms are given.
    package var log: Log { { line in self.add(line) } }

    package func setLevel(_ level: LogLevel) { state.withLock { $0.level = level } }

    package func add(_ line: LogLine) {
        let time = now()
        let lines = state.withLock { state -> [LogLine] in
            guard line.level <= state.level else { return [] }
            return state.repeats.lines(for: line, at: time)
        }
        for line in lines { write(line) }
    }

    /// Says what was held back in windows that are over. To be called every so often.
    package func sumUp() { write(all: false) }

    /// Says all that was held back. To be called at the end.
    package func flush() { write(all: true) }

    private func write(all: Bool) {
        let time = now()
        let lines = state.withLock { $0.repeats.expired(at: time, all: all) }
        for line in lines { write(line) }
    }
}

/// Lets equal lines through a few times in each window, counts the others, and sums them up when the window ends: so no
/// fault can fill the disk with its log.
///
/// Warnings and errors are equal by sentence and code, whatever file they are about; other lines only when every field
/// is the same, because "imported" for 500 photos is no repetition.
struct RepeatFilter {
    static let window = Duration.seconds(60)
    static let allowed = 20
    /// So many different lines are remembered; beyond that the windows end early.
    static let mostKeys = 1000

    private struct Key: Hashable {
        var level: LogLevel
        var sentence: String
        var detail: String
    }

    private struct Tally {
        var start: Duration
        var count = 0
        var code: String?
    }

    private var tallies: [Key: Tally] = [:]
    private var nextLook: Duration?

    /// What is to be written now: summaries that are due, then the line unless it is held back.
    mutating func lines(for line: LogLine, at time: Duration) -> [LogLine] {
        var lines: [LogLine] = []
        if let nextLook, time >= nextLook { lines = expired(at: time, all: false) }
        if tallies.count >= Self.mostKeys { lines += expired(at: time, all: true) }
        let code = line.fields.first { $0.0 == "CODE" }?.1
        let isFault = line.level <= .warning
        let detail = isFault ? code ?? "" : line.fields.map { "\($0.0)=\($0.1)" }.joined(separator: "\n")
        let key = Key(level: line.level, sentence: line.sentence, detail: detail)
        var tally = tallies[key] ?? Tally(start: time, code: code)
        tally.count += 1
        tallies[key] = tally
        nextLook = min(nextLook ?? .seconds(Int64.max / 2), tally.start + Self.window)
        if tally.count <= Self.allowed { lines.append(line) }
        return lines
    }

    /// Ends the windows that are over, or all of them.
    mutating func expired(at time: Duration, all: Bool) -> [LogLine] {
        var lines: [(Duration, LogLine)] = []
        for (key, tally) in tallies where all || time - tally.start >= Self.window {
            tallies[key] = nil
            guard tally.count > Self.allowed else { continue }
            var fields = [("REPEATED", key.sentence), ("COUNT", String(tally.count - Self.allowed))]
            if let code = tally.code { fields.append(("CODE", code)) }
            lines.append((tally.start, LogLine(key.level, "The same line came more often and was held back.", fields)))
        }
        nextLook = tallies.values.map { $0.start + Self.window }.min()
        return lines.sorted { ($0.0, $0.1.sentence) < ($1.0, $1.1.sentence) }.map(\.1)
    }
}
