import PhotoModel
import Testing

@Suite("A file that arrives") struct SettlingTests {
    private let rules = Settling.Rules(settle: .seconds(2))
    private func at(_ seconds: Double) -> Moment { Moment(nanoseconds: Int64(seconds * 1e9)) }
    private func stamp(_ size: Int64, mtime: Int64 = 1, inode: UInt64 = 1) -> FileStamp {
        FileStamp(device: 1, inode: inode, size: size, mtime: mtime)
    }

    @Test func `has settled when nothing changed for the settle time`() {
        var file = Settling(stamp(10), at: at(100))
        #expect(file.look(stamp(10), writer: .none, at: at(101.9), by: rules) == .wait(until: at(102)))
        #expect(file.look(stamp(10), writer: .none, at: at(102), by: rules) == .settled)
    }

    @Test func `waits anew after each change of size, time or inode`() {
        var file = Settling(stamp(10), at: at(100))
        #expect(file.look(stamp(11), writer: .none, at: at(102), by: rules) == .wait(until: at(104)))
        #expect(file.look(stamp(11, mtime: 2), writer: .none, at: at(104), by: rules) == .wait(until: at(106)))
        #expect(
            file.look(stamp(11, mtime: 2, inode: 9), writer: .none, at: at(106), by: rules) == .wait(until: at(108)))
        #expect(file.look(stamp(11, mtime: 2, inode: 9), writer: .none, at: at(108), by: rules) == .settled)
    }

    @Test func `waits anew when it is closed again, even unchanged`() {
        var file = Settling(stamp(10), at: at(100))
        file.notice(stamp(10), wasWritten: false, at: at(101))
        #expect(file.quietSince == at(100))
        file.notice(stamp(10), wasWritten: true, at: at(101))
        #expect(file.look(stamp(10), writer: .none, at: at(102), by: rules) == .wait(until: at(103)))
    }

    @Test func `is looked at in growing gaps while a writer has it open, for ever`() {
        var file = Settling(stamp(10), at: at(0))
        var now = at(2)
        var gaps: [Duration] = []
        for _ in 0..<1000 {
            guard case .wait(let until) = file.look(stamp(10), writer: .present, at: now, by: rules) else {
                Issue.record("it settled under its writer")
                return
            }
            gaps.append(until - now)
            now = until
        }
        #expect(Array(gaps.prefix(6)) == [2, 4, 8, 16, 30, 30].map { .seconds($0) })
        #expect(gaps.last == .seconds(30))
        #expect(file.look(stamp(10), writer: .none, at: now, by: rules) == .settled)
    }

    @Test func `is left alone longer when nobody can say whether it is open`() {
        var file = Settling(stamp(10), at: at(100))
        #expect(file.look(stamp(10), writer: .unknown, at: at(102), by: rules) == .wait(until: at(110)))
        #expect(file.look(stamp(10), writer: .unknown, at: at(110), by: rules) == .settled)
        var slow = Settling(stamp(10), at: at(100))
        #expect(
            slow.look(stamp(10), writer: .unknown, at: at(110), by: Settling.Rules(settle: .seconds(20)))
                == .wait(until: at(120)))
    }

    @Test func `counts as empty after half a minute without a byte`() {
        var file = Settling(stamp(0), at: at(100))
        #expect(file.look(stamp(0), writer: .none, at: at(102), by: rules) == .wait(until: at(130)))
        #expect(file.look(stamp(0), writer: .none, at: at(130), by: rules) == .empty)
        #expect(file.look(stamp(5), writer: .none, at: at(131), by: rules) == .wait(until: at(133)))
        #expect(file.look(stamp(5), writer: .none, at: at(133), by: rules) == .settled)
    }

    @Test func `B04 that was closed and went on has to be quiet for twice as long as it stalled`() {
        var file = Settling(stamp(10), at: at(100))
        file.notice(stamp(10), wasWritten: true, at: at(100.1))
        // Its first close came at once: that is no stall.
        #expect(file.look(stamp(10), writer: .none, at: at(101), by: rules) == .wait(until: at(102.1)))
        file.notice(stamp(20), wasWritten: true, at: at(106.1))
        #expect(file.look(stamp(20), writer: .none, at: at(111.1), by: rules) == .wait(until: at(118.1)))
        #expect(file.look(stamp(20), writer: .none, at: at(118.1), by: rules) == .settled)
        // Never more than a minute for it.
        file.notice(stamp(30), wasWritten: true, at: at(200))
        #expect(file.look(stamp(30), writer: .none, at: at(230), by: rules) == .wait(until: at(260)))
    }

    @Test func `B09 whose transfer was seen to stall has to be quiet for twice as long`() {
        var file = Settling(stamp(10), at: at(100))
        // Unchanged at 102, and it would have settled but for another member of its shot.
        #expect(file.look(stamp(10), writer: .none, at: at(105), by: rules) == .settled)
        #expect(file.look(stamp(20), writer: .none, at: at(107), by: rules) == .wait(until: at(117)))
        #expect(file.look(stamp(30), writer: .none, at: at(109), by: rules) == .wait(until: at(119)))
        // Writing all the while is no stall, however often it is looked at.
        var steady = Settling(stamp(1), at: at(0))
        for second in 1...30 {
            let outcome = steady.look(stamp(1 + Int64(second)), writer: .none, at: at(2 * Double(second)), by: rules)
            #expect(outcome == .wait(until: at(2 * Double(second) + 2)))
        }
    }

    @Test func `never settles by a time that runs over`() {
        var file = Settling(stamp(1), at: at(100))
        let rules = Settling.Rules(settle: .seconds(Int64.max))
        #expect(
            file.look(stamp(1), writer: .none, at: at(1e9), by: rules) == .wait(until: Moment(nanoseconds: .max)))
    }
}
