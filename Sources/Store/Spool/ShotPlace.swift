package import PhotoModel
import SQLite

extension Store {
    /// Where the files of one shot come from, and the stem they share: what ties a late member to it.
    package struct ShotPlace: Hashable, Sendable {
        package var drop: String
        package var filesystem: FilesystemID
        /// Absolute.
        package var folder: Path
        package var stem: Path

        package init(drop: String, filesystem: FilesystemID, folder: Path, stem: Path) {
            self.drop = drop
            self.filesystem = filesystem
            self.folder = folder
            self.stem = stem
        }

        /// By the leading file; nil for a job without files.
        package init?(_ job: Job) {
            guard let lead = job.files.first else { return nil }
            self.init(
                drop: job.drop, filesystem: lead.filesystem, folder: lead.path.parent,
                stem: ShotName(lead.path.name).stem)
        }

        /// A file that a job answers for, and how that job stands.
        struct Known {
            var path: Path
            var job: Job.ID
            var state: JobState
            var code: Problem.Code?
            var asset: Asset.ID?
            /// When the job was handed over; one that came of parting, when the parted one was.
            var handedOver: Timestamp

            func isBefore(_ time: Timestamp, _ id: Job.ID) -> Bool { (handedOver, job) < (time, id) }
        }

        /// The jobs that answer for the shot's photos and videos, oldest first. Their names lie between `stem.` and `stem/`,
        /// hence in one stretch of one index; but what Takeout calls `IMG_1.jpg(2).json` is of `IMG_1(2)`, so for a stem
        /// with a number there is a second stretch, that of the stem without it.
        func shots(on connection: borrowing Connection) throws(Problem) -> [Known] {
            try known(Self.files, on: connection).sorted { $0.isBefore($1.handedOver, $1.job) }
        }

        /// The jobs that answer for its sidecars and the like.
        func companions(on connection: borrowing Connection) throws(Problem) -> [Known] {
            try known(Self.companions, on: connection)
        }

        private func known(_ sql: String, on connection: borrowing Connection) throws(Problem) -> [Known] {
            var found: [Known] = []
            for beginning in [stem, ShotName.withoutNumber(stem)].compactMap({ $0 }) {
                let start = (folder / beginning).bytes
                let values: [Value] = [
                    .text(drop), .text(filesystem), .blob(start + [UInt8(ascii: ".")]),
                    .blob(start + [UInt8(ascii: "/")]), .integer(Int64(start.count + 1)),
                ]
                found += try connection.all(sql, values) { row throws(SQLiteError) in
                    Known(
                        path: Path(bytes: try row.blob(0)), job: try row.integer(1), state: try row.word(2),
                        code: try row.optionalWord(3), asset: try row.optionalText(4),
                        handedOver: Timestamp(nanoseconds: try row.integer(5)))
                }
            }
            // `IMG_1.edit.JPG` lies in the stretch of `IMG_1`, and is another shot.
            return found.filter { ShotName($0.path.name).stem == stem }
        }

        static let files = question(roles: "'photo', 'alternate_photo', 'paired_video', 'video'")
        static let companions = question(roles: "'adjustment', 'sidecar', 'audio', 'thumbnail'")

        /// What lies in a folder `stem.d` is in the stretch too: no slash may follow.
        private static func question(roles: String) -> String {
            """
            SELECT job_file.path, job.id, job.state, job.problem_code, job.asset_id, job.created_at
            FROM job_file INDEXED BY job_file_version CROSS JOIN job ON job.id = job_file.job_id
            WHERE job_file.drop_name = ? AND job_file.filesystem = ? AND job_file.path > ? AND job_file.path < ?
                AND job_file.is_current = 1 AND instr(substr(job_file.path, ?), X'2F') = 0
                AND job_file.role IN (\(roles))
            """
        }
    }
}
