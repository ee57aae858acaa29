package import PhotoModel
import SQLite

extension Store {
    /// A value the daemon remembers about itself, such as the id of its library.
    package func setting(_ key: String) throws(Problem) -> String? {
        try read { (connection) throws(Problem) in
            try connection.one("SELECT value FROM setting WHERE key = ?", [.text(key)]) { row throws(SQLiteError) in
                try row.text(0)
            }
        }
    }

    package func set(_ key: String, to value: String?) throws(Problem) {
        try write { (connection) throws(Problem) in
            if let value {
                try connection.change(
                    "INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                    [.text(key), .text(value)])
            } else {
                try connection.change("DELETE FROM setting WHERE key = ?", [.text(key)])
            }
        }
    }

    /// The next number of a counter, from 1, never given twice: `{seq}` of the naming template.
    package func takeNumber(of counter: String) throws(Problem) -> Int64 {
        try write { (connection) throws(Problem) in
            try connection.change(
                """
                INSERT INTO setting (key, value) VALUES (?, '1')
                ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)
                """, [.text("counter." + counter)])
            return try connection.number(
                "SELECT CAST(value AS INTEGER) FROM setting WHERE key = ?", [.text("counter." + counter)]) ?? 1
        }
    }

    /// The number of a counter that was given last; 0 before the first.
    package func lastNumber(of counter: String) throws(Problem) -> Int64 {
        try read { (connection) throws(Problem) in
            try connection.number(
                "SELECT CAST(value AS INTEGER) FROM setting WHERE key = ?", [.text("counter." + counter)]) ?? 0
        }
    }

    /// Reads every page of the database and checks its structure; for a large one this takes seconds.
    /// - Throws: `E_STATE_IO` naming the first fault.
    package func checkIntegrity() throws(Problem) {
        try read { (connection) throws(Problem) in try Opening.quickCheck(connection) }
    }
}
