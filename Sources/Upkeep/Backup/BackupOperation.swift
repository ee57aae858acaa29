import Files
import Ingest
import PhotoModel
import Store

/// Puts a copy of the state beside the photos, into `<library>/.photospool/backup/`: it survives the disk of the state, and
/// with the library's journal it is brought up to date by a rebuild.
///
/// Arguments: `schedule`, `daily`, for the one that comes by itself. Result: `path`, absolute, and `bytes`.
package struct BackupOperation: Sendable {
    /// So many of each sort are kept: of those that come by themselves, and of those that somebody ordered. One sort never
    /// pushes out the other.
    package static let kept = 7

    package enum Schedule: String, Sendable, CaseIterable { case daily, ordered }

    private let rooms: UpkeepRooms

    package init(_ rooms: UpkeepRooms) { self.rooms = rooms }

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let schedule = try run.orEnd { () throws(Problem) in try Self.schedule(run.operation.arguments) }
        let library = try run.orEnd(rooms.library)
        let shelf = BackupShelf(library: library)
        let time = rooms.now()
        run.restart()
        try run.orEnd(shelf.prepare)
        var done: Int64 = 0
        let kept = try run.orEnd { () throws(Problem) -> (path: Path, bytes: Int64)? in
            try rooms.store.withBackup(isGoingOn: { pages, total in
                run.setTotal(total)
                run.advance(by: pages - done)
                done = pages
                return !run.isEnding
            }) { (copy) throws(Problem) in
                try library.check()
                return try shelf.take(copy, schedule: schedule, at: time)
            }
        }
        guard let kept else { return try run.check() }
        run.setResult("path", to: (library.path / kept.path).shown)
        run.setResult("bytes", to: String(kept.bytes))
        try run.orEnd { () throws(Problem) in
            if schedule == .daily { try DailyBackup.remember(time, in: rooms.store) }
            try shelf.clear(schedule)
        }
    }

    private static func schedule(_ arguments: [String: String]) throws(Problem) -> Schedule {
        for name in arguments.keys.sorted() where name != "schedule" {
            throw Problem(
                .badRequest, "A backup has no argument `\(SafeText.of(name, limit: 40))`.",
                todo: "Order it without; the result says where it lies.")
        }
        guard let text = arguments["schedule"] else { return .ordered }
        guard let schedule = Schedule(rawValue: text) else {
            throw Problem(
                .badRequest, "`\(SafeText.of(text, limit: 40))` is no schedule of a backup.",
                todo: "Use " + Schedule.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return schedule
    }
}
