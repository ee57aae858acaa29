import Files
import Foundation
import PhotoModel
import TestSupport
import Testing

@testable import Ingest

@Suite("A file that ends early") struct ArrivalTests {
    private let now = Timestamp(seconds: 1_779_001_200)

    /// Seconds until it is decided; nil when that is at once.
    private func wait(
        touched seconds: Int64?, handedOver: Int64 = 0, endsEarly: Bool = true, patience: Duration? = .seconds(60)
    ) -> Int64? {
        var inspection = Inspection(mediaType: .jpeg)
        inspection.endsEarly = endsEarly
        let file = StagedResource(
            role: .photo, source: Path("/drop/1.JPG"), sourceStamp: FileStamp(device: 1, inode: 1, size: 1, mtime: 0),
            touched: seconds.map { now + .seconds(-$0) }, staged: Path("s"), sha256: SHA256.digest(of: []), size: 1,
            device: 1, inode: 1)
        do throws(ImportEnded) {
            try Arrival(patience: patience, now: now, handedOver: now + .seconds(-handedOver)).check(
                [file], [inspection])
            return nil
        } catch {
            guard case .mayStillArrive(let problem, let time) = error.outcome, problem.code == .sourceBusy else {
                Issue.record("\(error.outcome)")
                return nil
            }
            return (time - now).components.seconds
        }
    }

    @Test func `may be arriving until nobody has touched it for a minute`() {
        #expect(wait(touched: 0) == 60)
        #expect(wait(touched: 59) == 1)
        #expect(wait(touched: 60) == nil)
        #expect(wait(touched: -5) == 60)  // a server's clock is ahead
        #expect(wait(touched: 60, handedOver: 1) == nil)
    }

    @Test func `that nobody can say when it was touched may be arriving for a minute from when it was handed over`() {
        #expect(wait(touched: nil, handedOver: 0) == 60)
        #expect(wait(touched: nil, handedOver: 59) == 1)
        #expect(wait(touched: nil, handedOver: 60) == nil)
        #expect(wait(touched: nil, handedOver: -3600) == 60)  // our own clock was set back
    }

    @Test func `is decided at once when it is whole, or nobody waits`() {
        #expect(wait(touched: 0, endsEarly: false) == nil)
        #expect(wait(touched: 0, patience: nil) == nil)
    }

    @Test func `was touched when it was changed in any way, but not in the future`() throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "1.JPG")
        try Data([1]).write(to: file)
        func touch(_ mtime: Timestamp, now: Timestamp) throws -> Timestamp? {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: Double(mtime.nanoseconds) / 1e9)],
                ofItemAtPath: file.path)
            let root = try Folder(opening: Path(folder.path))
            return lastTouch(of: try root.openForReading(Path("1.JPG")), now: now)
        }
        let now = SystemClock.now()
        // An old mtime: the ctime tells that it was set just now.
        let young = try #require(try touch(Timestamp(seconds: 1_000_000_000), now: now + .seconds(5)))
        #expect(young >= now + .seconds(-5))
        // A camera's clock that is a day ahead.
        let ahead = try #require(try touch(now + .seconds(86_400), now: now + .seconds(5)))
        #expect(ahead <= now + .seconds(10))
        #expect(try touch(now + .seconds(86_400), now: Timestamp(seconds: 1_000_000_000)) == nil)
    }
}
