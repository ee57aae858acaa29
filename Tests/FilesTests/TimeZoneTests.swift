import Foundation
import PhotoModel
import TestSupport
import Testing

@testable import Files

@Suite("A zone of the time zone database") struct TimeZoneTests {
    /// What `TZ=name date -d @seconds +%z` says: an independent reader of the same files.
    private func dateSays(_ seconds: Int64, _ zone: String) throws -> Int? {
        let said = try Programs.run("/bin/date", ["-d", "@\(seconds)", "+%z"], environment: ["TZ": zone])
        return CaptureDate.seconds(ofOffset: String(said.output.prefix(5)))
    }

    @Test(arguments: ["Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "Etc/UTC"])
    func `tells what date(1) tells`(name: String) throws {
        let rules = try TimeZoneRules(named: name)
        for seconds in stride(from: Int64(631_152_000), to: 4_007_000_000, by: 86_400 * 97 + 4711) {
            #expect(try rules.offset(at: seconds) == dateSays(seconds, name), "\(name) \(seconds)")
        }
    }

    /// Files of the slim kind end with the last change that no rule gives: 2007 for New York.
    @Test(arguments: ["America/New_York", "Europe/Dublin", "Africa/Casablanca", "Asia/Gaza", "America/Santiago"])
    func `goes on by its rule where the file lists no more changes`(name: String) throws {
        let folder = try TestSupport.TemporaryFolder()
        let zic = try Programs.run(
            "/usr/sbin/zic", ["-b", "slim", "-d", folder.url.path, "/usr/share/zoneinfo/tzdata.zi"])
        try #require(zic.status == 0)
        let bytes = try Data(contentsOf: URL(filePath: "\(folder.url.path)/\(name)"))
        let rules = try #require(TimeZoneRules(Array(bytes)))
        for seconds in stride(from: Int64(1_600_000_000), to: 2_100_000_000, by: 86_400 * 23 + 4711) {
            #expect(try rules.offset(at: seconds) == dateSays(seconds, name), "\(name) \(seconds)")
        }
    }

    /// The whole variety that POSIX knows, by glibc's own reading of it.
    @Test(arguments: [
        "CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "IST-1GMT0,M10.5.0,M3.5.0/1",
        "AEST-10AEDT,M10.1.0,M4.1.0/3", "XXX3:30YYY2:15,J60/0,J300/1:30:30", "XXX5YYY,59,299/23", "EET-2",
        "<+0545>-5:45",
        "AAA4BBB,M2.5.3/24,M12.5.6/25",
    ]) func `reads every kind of rule`(rule: String) throws {
        let footer = try #require(TimeZoneFooter(rule.utf8))
        for seconds in stride(from: Int64(1_580_000_000), to: 1_720_000_000, by: 86_400 * 11 + 4711) {
            #expect(try footer.offset(at: seconds) == dateSays(seconds, rule), "\(rule) \(seconds)")
        }
        for nonsense in [
            "", "CE", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1X,J0,J1", "CET-1 ",
        ] {
            #expect(TimeZoneFooter(nonsense.utf8) == nil)
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
