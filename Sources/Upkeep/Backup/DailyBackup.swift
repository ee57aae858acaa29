package import PhotoModel
package import Store
import Synchronization

/// Orders a backup once a day, also over restarts: the state remembers when the last one was made.
package final class DailyBackup: Sendable {
    private static let setting = "backup.last"
    private static let gap = Duration.seconds(24 * 3600)
    /// Between two looks; after a backup that failed the next one is tried so much later.
    static let pause = Duration.seconds(600)
    static let pauseAfterOrder = Duration.seconds(3600)

    private let store: Store
    private let desk: OperationDesk
    /// Whether nothing is paused and nothing away.
    private let mayWork: @Sendable () -> Bool
    private let log: Log
    private let nextLook: Mutex<Timestamp>

    /// - Parameter startedAt: a start has enough to do; the first look comes one pause later.
    package init(
        store: Store, desk: OperationDesk, mayWork: @escaping @Sendable () -> Bool, log: @escaping Log,
        startedAt: Timestamp
    ) {
        self.store = store
        self.desk = desk
        self.mayWork = mayWork
        self.log = log
        nextLook = Mutex(startedAt + Self.pause)
    }

    /// To be called now and then; it looks only when it is time to.
    /// - Returns: whether one was ordered.
    @discardableResult package func look(at now: Timestamp) -> Bool {
        let isTime = nextLook.withLock { next in
            // A clock that was set back by years must not keep it from looking for years.
            guard now >= next || next - now > Self.pauseAfterOrder else { return false }
            next = now + Self.pause
            return true
        }
        guard isTime, mayWork() else { return false }
        do throws(Problem) {
            guard try isDue(at: now) else { return false }
            _ = try desk.order(.backup, ["schedule": BackupOperation.Schedule.daily.rawValue])
            nextLook.withLock { $0 = now + Self.pauseAfterOrder }
            return true
        } catch {
            log(LogLine(.warning, error))
            return false
        }
    }

    /// A state in which nothing has happened needs none.
    private func isDue(at now: Timestamp) throws(Problem) -> Bool {
        if try store.highestJournalID() == 0 { return false }
        if try store.isWaiting(.backup) { return false }
        guard let text = try store.setting(Self.setting), let last = Int64(text) else { return true }
        let age = now - Timestamp(nanoseconds: last)
        return age >= Self.gap || age < .zero - Self.gap
    }

    static func remember(_ time: Timestamp, in store: Store) throws(Problem) {
        try store.set(setting, to: String(time.nanoseconds))
    }
}
