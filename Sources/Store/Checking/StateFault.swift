package import PhotoModel
import SQLite

/// Something that is wrong with the state database.
package struct StateFault: Hashable, Sendable {
    package enum Kind: String, Sendable {
        /// The file's structure: a page, an index, a value of the wrong type.
        case damaged
        /// A row that names another one which is not there.
        case reference
        /// A number kept beside the rows that is not what counting them gives.
        case count
    }

    package let kind: Kind
    /// A whole sentence.
    package let detail: String
}

/// The questions themselves, to any connection.
enum StateQuestions {
    /// So many of each kind are named.
    static let most = 100

    /// - Parameter isQuick: leaves out whether each index holds what its table does.
    static func structure(_ connection: borrowing Connection, isQuick: Bool) throws(Problem) -> [StateFault] {
        let pragma = isQuick ? "quick_check" : "integrity_check"
        let lines = try connection.all("PRAGMA \(pragma)(\(most))") { row throws(SQLiteError) in try row.text(0) }
        return lines.filter { $0 != "ok" }.map { line in
            StateFault(kind: .damaged, detail: "The state database is damaged: \(SafeText.of(line, limit: 300)).")
        }
    }

    static func references(_ connection: borrowing Connection) throws(Problem) -> [StateFault] {
        try connection.all(
            "SELECT \"table\", \"parent\", count(*) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2"
        ) { row throws(SQLiteError) in
            StateFault(
                kind: .reference,
                detail:
                    "The table \(SafeText.of(try row.text(0))) names rows of \(SafeText.of(try row.text(1))) that are "
                    + "not there: \(try row.integer(2)).")
        }
    }

    /// The counts that triggers keep, against the rows.
    static func counts(_ connection: borrowing Connection) throws(Problem) -> [StateFault] {
        try tallies(connection) + batches(connection)
    }

    private static func tallies(_ connection: borrowing Connection) throws(Problem) -> [StateFault] {
        try connection.all(
            """
            SELECT tally.name, tally.jobs, coalesce(counted.jobs, 0) AS found FROM tally LEFT JOIN (
                SELECT state AS name, count(*) AS jobs FROM job GROUP BY state
                UNION ALL SELECT 'waiting', count(*) FROM job WHERE state = 'queued' AND not_before IS NOT NULL
            ) AS counted ON counted.name = tally.name
            WHERE tally.jobs <> found ORDER BY tally.name
            """
        ) { row throws(SQLiteError) in
            StateFault(
                kind: .count,
                detail: "The status counts \(try row.integer(1)) jobs as \(SafeText.of(try row.text(0))); there are "
                    + "\(try row.integer(2)).")
        }
    }

    private static func batches(_ connection: borrowing Connection) throws(Problem) -> [StateFault] {
        try connection.all(
            """
            SELECT batch.id, batch.total, batch.done, batch.failed, count(job.id) AS found,
                count(job.id) FILTER (WHERE job.state NOT IN ('queued', 'copying', 'previewing', 'committing')) AS over,
                count(job.id) FILTER (WHERE job.state = 'failed') AS bad
            FROM batch LEFT JOIN job ON job.batch_id = batch.id GROUP BY batch.id
            HAVING batch.total <> found OR batch.done <> over OR batch.failed <> bad ORDER BY batch.id LIMIT ?
            """, [.integer(Int64(most))]
        ) { row throws(SQLiteError) in
            StateFault(
                kind: .count,
                detail: "Batch \(try row.integer(0)) counts \(try row.integer(1)) jobs, \(try row.integer(2)) done, "
                    + "\(try row.integer(3)) failed; there are \(try row.integer(4)), \(try row.integer(5)), "
                    + "\(try row.integer(6)).")
        }
    }
}

extension Store {
    /// Everything that is wrong with the state, as far as it can tell of itself; empty when all is well. Reads every page
    /// (seconds for a gigabyte), on a connection of its own: nobody waits for it.
    ///
    /// - Parameter isCancelled: asked now and then; the call then ends with an error.
    /// - Throws: `E_STATE_IO` when it is too damaged to be asked.
    package func stateFaults(isCancelled: @escaping () -> Bool) throws(Problem) -> [StateFault] {
        let connection = try Opening.openReader(database)
        return try connection.interruptible(isCancelled: isCancelled) { () throws(Problem) in
            let damage = try StateQuestions.structure(connection, isQuick: false)
            // What a damaged file says of its rows means nothing.
            guard damage.isEmpty else { return damage }
            return try connection.snapshot(translate: Problem.state) { () throws(Problem) in
                try StateQuestions.references(connection) + StateQuestions.counts(connection)
            }
        }
    }
}
