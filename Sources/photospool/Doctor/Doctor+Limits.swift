internal import Glibc
internal import PhotoModel

extension Doctor {
    mutating func checkLimits() {
        checkWatches()
        for (name, least, meaning, todo) in [
            (
                "max_user_instances", 32,
                "other programs of the user may use up what there are, and folders are only polled",
                "Write `fs.inotify.max_user_instances = 128` into /etc/sysctl.d/60-photospool.conf, then run `sysctl --system`."
            ),
            (
                "max_queued_events", 4096, "a card's photos are more, and all of it is read again",
                "Write `fs.inotify.max_queued_events = 16384` into /etc/sysctl.d/60-photospool.conf, then run `sysctl --system`."
            ),
        ] {
            let check = "limits.\(name)"
            guard let found = Self.inotify(name) else {
                add(.unknown(check, "fs.inotify.\(name) could not be asked: /proc/sys is not there.", todo: ""))
                continue
            }
            add(Figures.least(check, "fs.inotify.\(name)", found: found, least: least, meaning: meaning, todo: todo))
        }
        checkOpenFiles()
    }

    private mutating func checkWatches() {
        let check = "limits.max_user_watches"
        let watched = folders.filter { !$0.isPolled }
        guard let limit = Self.inotify("max_user_watches") else {
            return add(
                .unknown(check, "fs.inotify.max_user_watches could not be asked: /proc/sys is not there.", todo: ""))
        }
        guard let drops = installed.settings?.drops else { return }
        if folders.isEmpty, !drops.isEmpty {
            return add(.unknown(check, "No drop folder could be looked into, so its folders were not counted."))
        }
        add(
            Figures.watches(
                check, folders: watched.reduce(0) { $0 + $1.folderCount },
                isWhole: watched.allSatisfy { $0.isWhole && $0.failure == nil }, limit: limit))
    }

    private static func inotify(_ name: String) -> Int? {
        smallFile("/proc/sys/fs/inotify/\(name)").flatMap { text in Int(text.filter { $0.isNumber }) }
    }

    /// Of the service that runs, else of its unit, else of this user.
    private mutating func checkOpenFiles() {
        let check = "limits.open_files"
        var found: (whose: String, limit: Int)?
        if let process = installed.process {
            found = smallFile("/proc/\(process)/limits").flatMap(Self.openFiles).map { ("The service's", $0) }
        }
        if found == nil, let text = installed.unit?.value("LimitNOFILE") {
            let soft = text.prefix { $0 != ":" }
            found = (soft == "infinity" ? Int(Int32.max) : Int(soft)).map { ("The unit's", $0) }
        }
        if found == nil, !installed.isRunning, installed.unit == nil {
            var limit = rlimit()
            if unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
                found = ("This user's", Int(clamping: limit.rlim_cur))
            }
        }
        guard let found else {
            return add(.unknown(check, "The service's limit of open files could not be asked."))
        }
        add(
            Figures.least(
                check, "\(found.whose) limit of open files", found: found.limit, least: 1024,
                meaning: "a burst of work and clients may use it up",
                todo:
                    "Run `systemctl edit photospool` and write LimitNOFILE=8192 below [Service], then restart the service."
            ))
    }

    /// The soft limit in /proc/PID/limits; nil when the text says something else.
    static func openFiles(_ text: String) -> Int? {
        for line in text.split(separator: "\n") where line.hasPrefix("Max open files") {
            let word = line.dropFirst("Max open files".count).split(separator: " ").first
            return word == "unlimited" ? Int(Int32.max) : word.flatMap { Int($0) }
        }
        return nil
    }
}
