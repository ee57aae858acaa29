internal import PhotoModel

/// What figures mean: no file, no kernel.
enum Figures {
    /// Free bytes of the library's disk against `library.reserve_free`.
    /// - Parameter disk: whose it is: the mirror keeps the same reserve.
    static func space(
        _ check: String, available: Int64, total: Int64, reserve: Int64, of disk: String = "library"
    ) -> Diagnosis {
        let figures = "\(Amounts.bytes(available)) of \(Amounts.bytes(total)) are free"
        let kept = "\(Amounts.bytes(reserve)) of them kept free (library.reserve_free)"
        if available <= reserve {
            return .fault(
                check,
                "\(figures), \(kept): \(disk == "library" ? "importing" : "mirroring") pauses with E_LIBRARY_FULL.",
                todo: "Free space on the \(disk)'s disk, or lower library.reserve_free.")
        }
        // Room for a card.
        if available - reserve < min(64 << 30, max(1 << 30, total / 50)) {
            return .warning(
                check, "\(figures), \(kept): \(Amounts.bytes(available - reserve)) are left for photos.",
                todo: "Free space on the \(disk)'s disk before the next card.")
        }
        return .ok(check, "\(figures), \(kept).")
    }

    /// Free bytes for the state database, its log, and a copy of it while it grows.
    static func stateSpace(_ check: String, available: Int64, database: Int64) -> Diagnosis {
        let figures = "\(Amounts.bytes(available)) are free for the state, which has \(Amounts.bytes(database))"
        let todo = "Free space on the disk of the state directory."
        if available < 16 << 20 { return .fault(check, "\(figures): nothing more can be recorded.", todo: todo) }
        return available < (256 << 20) + database / 4
            ? .warning(check, "\(figures).", todo: todo) : .ok(check, "\(figures).")
    }

    /// - Parameter total: 0 on a filesystem that makes inodes as it needs them.
    static func inodes(_ check: String, available: UInt64, total: UInt64) -> Diagnosis {
        guard total > 0 else { return .ok(check, "The filesystem makes inodes as it needs them.") }
        let figures = "\(number(available)) of \(number(total)) inodes are free"
        let todo = "Remove small files from the library's disk; a filesystem's inodes are set when it is made."
        if available < 100 { return .fault(check, "\(figures): no file can be made.", todo: todo) }
        return available < 20_000
            ? .warning(check, "\(figures); a photo takes two or more.", todo: todo) : .ok(check, "\(figures).")
    }

    /// - Parameter isWhole: false when counting was given up at `folders`.
    static func watches(_ check: String, folders: Int, isWhole: Bool, limit: Int) -> Diagnosis {
        let figures =
            "\(isWhole ? "" : "more than ")\(Amounts.count(folders, "folder")) to watch, and fs.inotify.max_user_watches is"
            + " \(Amounts.grouped(limit))"
        let wanted = max(65_536, Amounts.roundedUp(folders * 4))
        let todo =
            "Write `fs.inotify.max_user_watches = \(wanted)` into /etc/sysctl.d/60-photospool.conf, then run `sysctl"
            + " --system`."
        let start = figures.prefix(1).uppercased() + figures.dropFirst()
        if folders >= limit { return .fault(check, "\(start): the rest is only polled.", todo: todo) }
        return folders > limit / 10 * 8
            ? .warning(check, "\(start), which other programs of the user share.", todo: todo) : .ok(check, "\(start).")
    }

    static func least(
        _ check: String, _ name: String, found: Int, least: Int, meaning: String, todo: String
    ) -> Diagnosis {
        found < least
            ? .warning(check, "\(name) is \(Amounts.grouped(found)): \(meaning).", todo: todo)
            : .ok(check, "\(name) is \(Amounts.grouped(found)).")
    }

    /// - Parameter year: of now, by the clock.
    static func year(_ check: String, _ year: Int) -> Diagnosis? {
        // 2026: nothing of this program is older.
        (2026..<2100).contains(year)
            ? nil
            : .fault(
                check, "The clock says it is the year \(year).",
                todo: "Set the clock: timedatectl set-ntp true, or timedatectl set-time.")
    }

    private static func number(_ number: UInt64) -> String { Amounts.grouped(Int(clamping: number)) }
}

extension Amounts {
    /// To the next power of two.
    static func roundedUp(_ number: Int) -> Int {
        var power = 1
        while power < number, power < 1 << 40 { power *= 2 }
        return power
    }
}
