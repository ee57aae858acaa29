package import PhotoModel
import SQLite

extension Store {
    /// How many jobs of these drops are queued.
    package func queued(in drops: Set<String>) throws(Problem) -> Int {
        try read { (connection) throws(Problem) in
            var count: Int64 = 0
            for drop in drops {
                count += try connection.number(
                    "SELECT count(*) FROM job WHERE drop_name = ? AND state = 'queued'", [.text(drop)]) ?? 0
            }
            return Int(count)
        }
    }
}
