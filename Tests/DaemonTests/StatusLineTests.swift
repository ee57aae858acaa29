import PhotoModel
import Testing

@testable import photospoold

@Suite("The status line") struct StatusLineTests {
    private func line(
        _ state: DaemonState = .running, reasons: [Problem] = [], batch: Batch? = nil, path: String? = nil,
        settling: Int = 0, counts change: (inout QueueCounts) -> Void = { _ in }
    ) -> String {
        var counts = QueueCounts()
        change(&counts)
        let inFlight = path.map {
            InFlightImport(job: 1, batch: 1, phase: .copying, path: Path($0), bytesDone: 0, bytesTotal: 1)
        }
        return StatusLine.text(
            state: state, reasons: reasons, counts: counts, batch: batch, inFlight: inFlight.map { [$0] } ?? [],
            settling: settling)
    }

    private func batch(done: Int, of total: Int) -> Batch {
        Batch(
            id: 1, drop: "card", createdAt: Timestamp(seconds: 0), closedAt: nil, total: total, done: done, failed: 2)
    }

    @Test func `counts the photo at hand, names it, and tells of failures`() {
        let text = line(batch: batch(done: 22, of: 80), path: "/srv/drop/card/IMG_0023.HEIC") { $0.failed = 2 }
        #expect(text == "Importing 23 of 80 · IMG_0023.HEIC · 2 failed")
    }

    @Test func `never counts beyond the batch`() {
        #expect(line(batch: batch(done: 80, of: 80), path: "/x/a.jpg").hasPrefix("Importing 80 of 80 · "))
        #expect(line(batch: batch(done: 0, of: 0), path: "/x/a.jpg") == "Importing · a.jpg")
    }

    @Test func `says what it waits for`() {
        #expect(line { $0.imported = 1204 } == "Idle · 1204 imported")
        #expect(line(settling: 1) == "Waiting for 1 file to arrive completely")
        #expect(line(settling: 3) == "Waiting for 3 files to arrive completely")
        #expect(
            line {
                $0.queued = 5
                $0.retrying = 2
            } == "5 queued · 2 to be tried again")
        #expect(
            line {
                $0.queued = 2
                $0.retrying = 2
            } == "Idle · 0 imported · 2 to be tried again")
        #expect(line(.paused) { $0.queued = 7 } == "Paused · 7 queued")
        #expect(line(.starting) == "Starting")
        #expect(line(.stopping) == "Stopping")
    }

    @Test func `names the code of what restricts it`() {
        let full = Problem(.libraryFull, "The library has 5 bytes free.")
        #expect(line(.degraded, reasons: [full]) == "Idle · 0 imported · E_LIBRARY_FULL: The library has 5 bytes free.")
    }

    @Test func `lets no name start a line of its own, as a second message to the service manager would`() {
        let text = line(path: "/x/a\nSTOPPING=1\r\u{1B}[2J\u{202E}.jpg")
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E })
        let reason = Problem(.libraryIO, "Could not read a\nREADY=1.")
        #expect(!line(.degraded, reasons: [reason]).contains("\n"))
    }
}
