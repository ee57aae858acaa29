import Files
import PhotoModel
import Synchronization

/// Where movies that tell only UTC were taken: `import.time_zone`, else the machine's zone. Follows a reload.
final class MovieZone: Sendable {
    private let live: LiveSettings
    private let known = Mutex<(name: String, rules: TimeZoneRules?)>(("", nil))

    init(_ live: LiveSettings) { self.live = live }

    /// Seconds east of UTC at a time in seconds since 1970.
    func offset(at seconds: Int64) -> Int {
        let name = live.current.importing.timeZone
        let rules = known.withLock { known -> TimeZoneRules? in
            if known.name != name {
                // The name was looked up when the configuration was read; where the database is gone, the machine's counts.
                known = (name, name.isEmpty ? nil : try? TimeZoneRules(named: name))
            }
            return known.rules
        }
        return rules?.offset(at: seconds) ?? SystemClock.localOffset(at: Timestamp(seconds: seconds))
    }
}
