package import PhotoModel
import SQLite

extension Store {
    /// Whether the library is likely to hold the bytes of a source: the catalog has an original of its size that came from
    /// a file of its name, or a file of its path and size was handed over by another job, on whatever filesystem. A guess,
    /// by which one reads before one writes; it proves nothing.
    package func mayHold(_ file: SettledFile, of job: Job) throws(Problem) -> Bool {
        try atTheDoor { (connection) throws(Problem) in
            let sources = try connection.all(MayHold.originalsOfSize, [.integer(file.stamp.size)]) {
                row throws(SQLiteError) in Path(bytes: try row.blob(0)).name
            }
            if sources.contains(file.path.name) { return true }
            return try MayHold.wasHandedOver(file, of: job, on: connection)
        }
    }

    /// Whether bytes of that size can be known: an original has it, or some bytes are kept out, whose size nobody knows.
    package func mayHoldBytes(ofSize size: Int64) throws(Problem) -> Bool {
        try read { (connection) throws(Problem) in
            try connection.number(MayHold.bytesOfSize, [.integer(size)]) == 1
        }
    }
}

/// The questions behind ``Store/mayHold(_:of:)``.
enum MayHold {
    /// Uncompressed RAW files of one camera are all of one size: then a thousand are looked at, some milliseconds, and
    /// the guess may be wrong.
    static let originalsOfSize = "SELECT source_path FROM resource INDEXED BY resource_size WHERE size = ? LIMIT 1000"
    static let bytesOfSize = """
        SELECT EXISTS (SELECT 1 FROM resource INDEXED BY resource_size WHERE size = ?) OR EXISTS (SELECT 1 FROM tombstone)
        """
    /// The index that is there begins with drop and filesystem: it is asked filesystem by filesystem, which are few.
    static let nextFilesystem = """
        SELECT filesystem FROM job_file INDEXED BY job_file_version
        WHERE drop_name = ? AND is_current = 1 AND filesystem > ? ORDER BY filesystem LIMIT 1
        """
    static let sameOnFilesystem = """
        SELECT 1 FROM job_file INDEXED BY job_file_version
        WHERE drop_name = ? AND filesystem = ? AND path = ? AND size = ? AND is_current = 1 AND job_id <> ? LIMIT 1
        """
    private static let mostFilesystems = 256

    static func wasHandedOver(
        _ file: SettledFile, of job: Job, on connection: borrowing Connection
    ) throws(Problem) -> Bool {
        var last = ""
        for _ in 0..<mostFilesystems {
            let next = try connection.one(nextFilesystem, [.text(job.drop), .text(last)]) { row throws(SQLiteError) in
                try row.text(0)
            }
            guard let next else { return false }
            let found = try connection.number(
                sameOnFilesystem,
                [
                    .text(job.drop), .text(next), .blob(file.path.bytes), .integer(file.stamp.size), .integer(job.id),
                ])
            if found != nil { return true }
            last = next
        }
        return false
    }
}
