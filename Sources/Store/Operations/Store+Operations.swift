import FoundationEssentials
package import PhotoModel
import SQLite

/// Long work that outlives the process.
extension Store {
    /// Queues an operation.
    package func order(
        _ kind: Operation.Kind, _ arguments: [String: String], at now: Timestamp
    ) throws(Problem) -> Operation.ID {
        let text = try Self.json(arguments)
        return try write { (connection) throws(Problem) in
            try connection.change(
                "INSERT INTO operation (kind, arguments, state, created_at) VALUES (?, ?, 'queued', ?)",
                [.text(kind.rawValue), .text(text), .integer(now.nanoseconds)])
            return connection.lastInsertedRow
        }
    }

    package func operation(_ id: Operation.ID) throws(Problem) -> Operation? {
        try read { (connection) throws(Problem) in
            try connection.one(
                "SELECT \(Self.operationColumns) FROM operation WHERE id = ?", [.integer(id)], Self.readOperation)
        }
    }

    /// Newest first.
    /// - Throws: `E_BAD_REQUEST` for a limit outside 1...200 or a foreign cursor.
    package func operations(limit: Int, after cursor: String? = nil) throws(Problem) -> Page<Operation> {
        let limit = try Cursor.checkedLimit(limit)
        let before = try cursor.map { (text) throws(Problem) in try Cursor.number(text) } ?? Int64.max
        return try read { (connection) throws(Problem) in
            let found = try connection.all(
                "SELECT \(Self.operationColumns) FROM operation WHERE id < ? ORDER BY id DESC LIMIT ?",
                [.integer(before), .integer(Int64(limit + 1))], Self.readOperation)
            return Page(found, limit: limit) { Cursor.make([String($0.id)]) }
        }
    }

    /// Whether one of this kind is waiting or at work.
    package func isWaiting(_ kind: Operation.Kind) throws(Problem) -> Bool {
        try read { (connection) throws(Problem) in
            try connection.number(
                """
                SELECT 1 FROM operation INDEXED BY operation_waiting
                WHERE state IN ('queued', 'running') AND kind = ? LIMIT 1
                """, [.text(kind.rawValue)]) != nil
        }
    }

    /// What it found, in the order in which it did.
    package func findings(
        of id: Operation.ID, limit: Int, after cursor: String? = nil
    ) throws(Problem) -> Page<Operation.Finding> {
        let limit = try Cursor.checkedLimit(limit)
        let after = try cursor.map { (text) throws(Problem) in try Cursor.number(text) } ?? -1
        return try read { (connection) throws(Problem) in
            let found = try connection.all(
                """
                SELECT position, kind, path, asset_id, detail FROM finding
                WHERE operation_id = ? AND position > ? ORDER BY position LIMIT ?
                """, [.integer(id), .integer(after), .integer(Int64(limit + 1))]
            ) { row throws(SQLiteError) in
                (
                    position: try row.integer(0),
                    finding: Operation.Finding(
                        try row.text(1), path: try row.optionalBlob(2).map { Path(bytes: $0) },
                        asset: try row.optionalText(3), try row.text(4))
                )
            }
            let page = Page(found, limit: limit) { Cursor.make([String($0.position)]) }
            return Page(items: page.items.map(\.finding), next: page.next)
        }
    }

    /// The operation to work on: one that was interrupted, else the one ordered first. It is `running` from now on.
    /// - Returns: with it the place it had come to.
    package func takeOperation() throws(Problem) -> (operation: Operation, cursor: String?)? {
        try write { (connection) throws(Problem) in
            let found = try connection.one(
                """
                SELECT \(Self.operationColumns), cursor FROM operation INDEXED BY operation_waiting
                WHERE state IN ('queued', 'running') ORDER BY state DESC, id LIMIT 1
                """
            ) { row throws(SQLiteError) in (try Self.readOperation(row), try row.optionalText(13)) }
            guard let (operation, cursor) = found else { return nil }
            try connection.change("UPDATE operation SET state = 'running' WHERE id = ?", [.integer(operation.id)])
            var running = operation
            running.state = .running
            return (running, cursor)
        }
    }

    /// Records how far it has come, and what it found on the way, in one transaction: neither is lost nor said twice when
    /// it is interrupted.
    package func checkpoint(
        _ id: Operation.ID, cursor: String?, done: Int64, total: Int64?, findings: [Operation.Finding]
    ) throws(Problem) {
        try write { (connection) throws(Problem) in
            let first =
                try connection.number("SELECT findings FROM operation WHERE id = ?", [.integer(id)]) ?? 0
            for (offset, finding) in findings.enumerated() {
                try connection.change(
                    """
                    INSERT INTO finding (operation_id, position, kind, path, asset_id, detail) VALUES (?, ?, ?, ?, ?, ?)
                    """,
                    [
                        .integer(id), .integer(first + Int64(offset)), .text(finding.kind),
                        .blob(finding.path?.bytes), .text(finding.asset), .text(finding.detail),
                    ])
            }
            try connection.change(
                "UPDATE operation SET cursor = ?, done = ?, total = ?, findings = findings + ? WHERE id = ?",
                [
                    .text(cursor), .integer(done), .integer(total), .integer(Int64(findings.count)), .integer(id),
                ])
        }
    }

    package func finishOperation(
        _ id: Operation.ID, as state: Operation.State, problem: Problem?, results: [String: String], at now: Timestamp
    ) throws(Problem) {
        let text = try Self.json(results)
        try write { (connection) throws(Problem) in
            try connection.change(
                """
                UPDATE operation SET state = ?, results = ?, problem_code = ?, problem_title = ?, problem_recovery = ?,
                    finished_at = ? WHERE id = ? AND state IN ('queued', 'running')
                """,
                [.text(state.rawValue), .text(text)] + JobRow.values(problem) + [
                    .integer(now.nanoseconds), .integer(id),
                ])
        }
    }

    private static let operationColumns = """
        id, kind, arguments, state, done, total, findings, results, problem_code, problem_title, problem_recovery, \
        created_at, finished_at
        """

    private static func readOperation(_ row: borrowing Row) throws(SQLiteError) -> Operation {
        guard let arguments = object(try row.text(2)) else { throw row.unexpected(2) }
        guard let results = object(try row.text(7)) else { throw row.unexpected(7) }
        return Operation(
            id: try row.integer(0), kind: try row.word(1), arguments: arguments, state: try row.word(3),
            done: try row.integer(4), total: try row.optionalInteger(5), findings: try row.integer(6),
            results: results, problem: try JobRow.problem(row, 8),
            createdAt: Timestamp(nanoseconds: try row.integer(11)),
            finishedAt: try row.optionalInteger(12).map(Timestamp.init(nanoseconds:)))
    }

    private static func object(_ text: String) -> [String: String]? {
        try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))  // nil is what the caller reports
    }

    private static func json(_ object: [String: String]) throws(Problem) -> String {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(object), as: UTF8.self)
        } catch {
            throw Problem(.stateIO, "Could not write an operation as JSON: \(error).")
        }
    }
}
