import ControlAPI
import Foundation
import TestSupport
import Testing

/// Calls that fail for a while, under the running daemon, which is to go on by itself when they do again what they should.
@Suite("A daemon whose disk fails", .tags(.neverLost, .neverPartial, .exactlyOnce, .saysWhatIsWrong))
struct FaultTests {
    struct Fault: Sendable, CustomStringConvertible {
        var call: String
        var error: String
        /// `library`, `drop` or `state`.
        var place: String
        var first: Int
        /// Calls in a row that fail; few enough that the gaps between the attempts stay short.
        var count: Int

        var description: String { "\(call):\(error):\(first)-\(first + count - 1) in \(place)" }

        func rule(_ shoot: Shoot) -> String {
            let folder = shoot.installation.folder.url.appending(path: place).path
            return "\(call):\(error):\(first)-\(first + count - 1)@\(folder)"
        }
    }

    /// Goal R5: each error at each call in each place, at the first, in the middle, at the last or for longer.
    @Test(.timeLimit(.minutes(30)))
    func `T5 R5 believes nothing, deletes nothing and lives on, whichever call says whatever error`() async throws {
        guard try Faults.arePossible(for: "failing calls, each in its turn") else { return }
        try await runRig("errors.py")
    }

    /// What each call can say, by the man pages; where the state lies, SQLite is the one who hears it.
    private static let errors: [(call: String, errors: [String], places: [String])] = [
        ("open", ["EIO", "EMFILE", "ENFILE", "ENOMEM", "ESTALE", "EACCES"], ["library", "drop", "state"]),
        ("make", ["ENOSPC", "EDQUOT", "EROFS", "EIO"], ["library"]),
        ("write", ["EIO", "ENOSPC", "EDQUOT", "SHORT", "EINTR"], ["library", "state"]),
        ("read", ["EIO", "ESTALE", "SHORT", "EINTR"], ["library", "drop", "state"]),
        ("sync", ["EIO", "ENOSPC", "EDQUOT", "EROFS"], ["library", "state"]),
        ("rename", ["EIO", "ENOSPC", "EROFS", "EACCES", "ESTALE"], ["library"]),
        ("unlink", ["EIO", "EROFS", "EBUSY"], ["library"]),
        ("stat", ["EIO", "ESTALE", "EACCES"], ["library", "drop"]),
        ("set", ["EPERM", "EIO"], ["library"]),
        ("truncate", ["EIO"], ["state"]),
        ("close", ["EIO", "EDQUOT"], ["library"]),
    ]

    static var all: [Fault] {
        errors.flatMap { call, errors, places in
            errors.flatMap { error in
                places.flatMap { place in
                    [1, 3, 9, 20, 40].flatMap { first in
                        [1, 2, 4].map { Fault(call: call, error: error, place: place, first: first, count: $0) }
                    }
                }
            }
        }
    }

    /// A source is only disposed of where nothing fails on it: what a drop refuses is kept by design.
    private func suffer(_ fault: Fault) throws {
        let shoot = try Shoot(afterImport: fault.place == "drop" || fault.first % 2 == 0 ? "keep" : "delete")
        let installation = shoot.installation
        let situation = "\(fault), \(shoot.afterImport)"
        try installation.launch(environment: try Faults.environment([fault.rule(shoot)]))
        let end = ContinuousClock.now + .seconds(100)
        var isDone = false
        while !isDone {
            try shoot.checkPromises(situation)
            if let daemon = installation.daemon, !daemon.isRunning {
                // Not being able to begin is said by ending with a code; the service manager starts it again.
                guard daemon.terminationReason == .exit, [75, 78].contains(daemon.terminationStatus) else {
                    Issue.record("\(situation): the daemon died: \(installation.logText)")
                    return
                }
                try installation.launch()
            }
            guard ContinuousClock.now < end else {
                Issue.record("\(situation): it does not go on\n\(installation.logText)")
                return
            }
            // Asked in the middle of trouble it may not answer, or say that it cannot.
            if let status = try? installation.status(), status.idle, status.state == "running",
                status.queue.imported + status.queue.duplicate == 3,
                let jobs = try? installation.jobs(), !jobs.contains(where: { $0.disposition.state == "pending" }),
                try installation.stagedEntries().isEmpty
            {
                isDone = true
            } else {
                Thread.sleep(forTimeInterval: 0.1)
            }
        }
        #expect(installation.stop() == 0, "\(situation)\n\(installation.logText)")
        try shoot.checkEnd(situation)
    }

    @Test(.timeLimit(.minutes(60)))
    func `T5 H21 imports each photo once when a call failed for a while`() async throws {
        guard try Faults.arePossible(for: "failing calls") else { return }
        let faults = Faults.areExhaustive ? Self.all : Array(Self.all.shuffled().prefix(24))
        try await onOwnThreads(faults, width: 12) { try suffer($0) }
    }

    // MARK: Where sources are disposed of

    private static var onSources: [(fault: Fault, afterImport: String)] {
        let errors = [
            "make": ["ENOSPC", "EROFS", "EMFILE"], "open": ["EIO", "EMFILE", "EACCES"], "sync": ["EIO"],
            "rename": ["EIO", "EROFS", "EACCES", "EBUSY", "EXDEV"], "unlink": ["EIO", "EBUSY", "EROFS"],
            "stat": ["EIO", "ESTALE"],
        ]
        return errors.flatMap { call, errors in
            errors.flatMap { error in
                [1, 2, 3, 5, 8].flatMap { first in
                    [1, 6].flatMap { count in
                        ["delete", "move"].map {
                            (Fault(call: call, error: error, place: "drop", first: first, count: count), $0)
                        }
                    }
                }
            }
        }
    }

    /// What a drop folder refuses is kept and said, and not a failure of the import; no source is left in between.
    private func refuse(_ fault: Fault, afterImport: String) throws {
        let shoot = try Shoot(afterImport: afterImport)
        let installation = shoot.installation
        let situation = "\(fault), \(afterImport)"
        try installation.launch(environment: try Faults.environment([fault.rule(shoot)]))
        try wait(situation, installation) {
            try shoot.checkPromises(situation)
            let queue = try installation.status().queue
            return queue.imported + queue.duplicate == 3
        }
        // The next start puts back what was claimed and could not be disposed of.
        #expect(installation.stop() == 0, "\(situation)\n\(installation.logText)")
        try installation.launch()
        let claims = installation.drop.appending(path: ".photospool/claim")
        try wait(situation, installation) {
            let jobs = try installation.jobs()
            guard jobs.count == 3, !jobs.contains(where: { $0.disposition.state == "pending" }) else { return false }
            return try installation.files(below: claims).isEmpty
        }
        let jobs = try installation.jobs()
        for job in jobs {
            let isKept = job.disposition.state == "kept"
            #expect((job.disposition.code == "E_DISPOSITION") == isKept, "\(situation)\n\(installation.logText)")
            let left = job.files.map(\.path).filter { FileManager.default.fileExists(atPath: $0) }
            #expect(isKept ? !left.isEmpty : left.isEmpty, "\(situation)\n\(installation.logText)")
        }
        #expect(installation.stop() == 0)
        try shoot.checkPromises(situation)
        #expect(try installation.visibleFiles().count == 3, "\(situation)\n\(installation.logText)")
    }

    private func wait(_ situation: String, _ installation: Installation, _ condition: () throws -> Bool) throws {
        let end = ContinuousClock.now + .seconds(100)
        while (try? condition()) != true {  // asked in the middle of trouble it may not answer
            if let daemon = installation.daemon, !daemon.isRunning {
                throw Installation.Failure("\(situation): the daemon died: \(installation.logText)")
            }
            guard ContinuousClock.now < end else {
                throw Installation.Failure("\(situation): it does not go on\n\(installation.logText)")
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
    }

    @Test(.timeLimit(.minutes(60)))
    func `H25 keeps what a drop folder refuses to give, and the import stands`() async throws {
        guard try Faults.arePossible(for: "failing calls in a drop folder") else { return }
        let all = Self.onSources
        let faults = Faults.areExhaustive ? all : Array(all.shuffled().prefix(12))
        try await onOwnThreads(faults, width: 6) { try refuse($0.fault, afterImport: $0.afterImport) }
    }
}
