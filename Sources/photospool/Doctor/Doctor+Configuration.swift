internal import Config
internal import Files
internal import Glibc
internal import PhotoModel

extension Doctor {
    /// All faults of the files, and folders that lie inside each other.
    mutating func checkConfiguration() {
        let files = installed.files
        let main = SafeText.of(files.main)
        guard let settings = installed.settings else { return tellFaults() }
        let others = files.all.dropFirst().map { SafeText.of($0.name) }
        let dropIns = others.isEmpty ? "" : " with \(others.joined(separator: ", ")) from conf.d"
        add(
            .ok(
                "configuration",
                "\(main)\(dropIns) is valid: \(Amounts.count(settings.drops.count, "drop folder")), library "
                    + "\(SafeText.of(settings.library.path))."))
        if settings.drops.isEmpty {
            add(
                .warning(
                    "configuration", "No drop folder is configured: nothing is imported by itself.",
                    todo: "Add a [[drop]] with name and path to \(main), then run `photospool reload`."))
        }
        checkGroups(settings)
        if let silent = installed.silent.first {
            return add(
                .unknown(
                    "overlap",
                    "Whether folders lie inside each other could not be asked: \(SafeText.of(silent)) does not"
                        + " answer.", todo: "Check the share it lies on, then ask again."))
        }
        let overlaps = OverlapCheck.problems(settings: settings, stateDirectory: installed.stateDirectory)
        for problem in overlaps { add(.fault("overlap", problem.whatHappened, todo: problem.whatToDo)) }
        if overlaps.isEmpty {
            add(.ok("overlap", "Library, drop folders and state lie apart from each other."))
        }
    }

    private mutating func tellFaults() {
        let main = installed.files.main
        let closed = installed.files.all.isEmpty ? [main] : installed.files.all
        if closed.contains(where: { path in
            unsafe path.withCString { unsafe access($0, R_OK) } != 0 && errno == EACCES
        }) {
            return add(.unknown("configuration", "\(SafeText.of(main)) may not be read by this user."))
        }
        for fault in installed.faults {
            add(
                .fault(
                    "configuration", "\(fault.description).",
                    todo: exists(main)
                        ? "Correct it, then run `photospool config check`."
                        : "Write \(SafeText.of(main)), or name the file with --config."))
        }
    }

    /// What is made in the library, and the socket, are given to these; the reading of the files saw that they exist.
    private mutating func checkGroups(_ settings: Settings) {
        let user = installed.user
        for (key, name) in [("library.group", settings.library.group), ("control.group", settings.control.group)]
        where !name.isEmpty {
            guard let group = Accounts.groupID(named: name), user.isKnown else { continue }
            if user.isRoot || user.isMember(of: group) {
                add(.ok("groups", "The service's user \(user.name) is a member of \(SafeText.of(name)) (\(key))."))
            } else {
                add(
                    .fault(
                        "groups",
                        "The service's user \(user.name) is no member of \(SafeText.of(name)) (\(key)), and may"
                            + " give it nothing.",
                        todo: "Run `usermod -aG \(SafeText.of(name)) \(user.name)`, then restart the service."))
            }
        }
    }
}
