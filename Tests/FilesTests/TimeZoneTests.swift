import Foundation
import PhotoModel
import Testing

@testable import Files

@Suite("A zone of the time zone database") struct TimeZoneTests {
    /// What `TZ=name date -d @seconds +%z` says: an independent reader of the same files.
    @Test(arguments: ["Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "Etc/UTC"])
    func `tells what date(1) tells`(name: String) throws {
        let rules = try TimeZoneRules(named: name)
        for seconds in stride(from: Int64(631_152_000), to: 2_114_380_800, by: 86_400 * 59 + 4711) {
            let pipe = Pipe()
            let process = Process()
            process.executableURL = URL(filePath: "/bin/date")
            process.arguments = ["-d", "@\(seconds)", "+%z"]
            process.environment = ["TZ": name]
            process.standardOutput = pipe
            try process.run()
            process.waitUntilExit()
            let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).prefix(5)
            #expect(rules.offset(at: seconds) == CaptureDate.seconds(ofOffset: String(text)), "\(name) \(seconds)")
        }
    }

    @Test func `is refused when it is none`() {
        #expect(throws: Errno.self) { try TimeZoneRules(named: "Europe/Nowhere") }
        #expect(throws: Errno.invalid) { try TimeZoneRules(named: "zone.tab") }
        #expect(TimeZoneRules([]) == nil)
        #expect(TimeZoneRules(Array("TZif2".utf8) + [UInt8](repeating: 255, count: 60)) == nil)
    }

    @Test func `makes UTC the wall clock's time`() throws {
        let rules = try TimeZoneRules(named: "Europe/Berlin")
        let time = WallTime(year: 2021, month: 7, day: 1, hour: 22, minute: 30, second: 5)
        let date = CaptureDate(time: time, source: .quicktime, isUniversal: true).local(offset: rules.offset(at:))
        let local = WallTime(year: 2021, month: 7, day: 2, hour: 0, minute: 30, second: 5)
        var expected = CaptureDate(time: local, offset: "+02:00", source: .quicktime)
        expected.isZoneAssumed = true
        #expect(date == expected)
        #expect(date.local(offset: { _ in 7200 }) == date)
    }
}
