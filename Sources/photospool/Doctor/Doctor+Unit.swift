internal import Files
internal import Glibc
internal import PhotoModel

extension Doctor {
    /// What systemd was told, against what this version needs.
    mutating func checkUnit() {
        guard let unit = installed.unit else { return tellWithoutUnit() }
        let before = diagnoses.count
        var comparison = UnitCheck(unit: unit, places: places)
        // Else the paths as written: asking where they lead would hang at the one that does not answer.
        if installed.silent.isEmpty { comparison.resolve = Self.resolve }
        add(contentsOf: comparison.diagnoses)
        if !installed.user.isKnown {
            add(
                .fault(
                    "unit", "The user \(installed.user.name) that the unit runs the service as does not exist.",
                    todo: "Run `systemd-sysusers`, or install the package, which makes it."))
        }
        switch installed.unitFacts["NeedDaemonReload"] {
        case "yes"?:
            add(
                .warning(
                    "unit", "The unit's files have changed since systemd read them.",
                    todo: "Run `systemctl daemon-reload`, then restart the service."))
        case nil:
            add(
                .unknown(
                    "unit.loaded",
                    "Whether systemd has read the unit as it is could not be asked: systemctl does not answer.",
                    todo: "Run it where systemd runs."))
        default: break
        }
        if diagnoses[before...].allSatisfy({ $0.state == .unknown }) {
            let watchdog = SafeText.of(unit.value("WatchdogSec") ?? "")
            let user = SafeText.of(unit.value("User") ?? "")
            add(
                .ok(
                    "unit",
                    "\(Systemd.unitName) has Type=notify, WatchdogSec=\(watchdog), User=\(user), and lets the service"
                        + " reach all \(places.count) places it needs."))
            let lease = UnitCheck(unit: unit, places: []).gives("CAP_LEASE")
            add(
                .ok(
                    "unit.capabilities",
                    lease
                        ? "It gives CAP_LEASE: that a file of another user is whole is known at once."
                        : "It gives no CAP_LEASE: files of other users settle for ten seconds."))
        }
    }

    private mutating func tellWithoutUnit() {
        if installed.hasUnit {
            return add(
                .ok(
                    "unit", "\(Systemd.unitName) starts another configuration; this one is started in another way."))
        }
        add(
            .warning(
                "unit", "\(Systemd.unitName) is not installed: nothing starts the service, or starts it again.",
                todo: "Install the package, or run `make install`; without systemd, let another supervisor start"
                    + " photospoold."))
    }

    /// What the service reads and writes by the configuration.
    private var places: [UnitCheck.Place] {
        var places = [UnitCheck.Place(what: "the state directory", path: installed.stateDirectory, isWritten: true)]
        guard let settings = installed.settings else { return places }
        places.append(.init(what: "the library", path: settings.library.path, isWritten: true))
        if !settings.library.mirror.isEmpty {
            places.append(.init(what: "the mirror", path: settings.library.mirror, isWritten: true))
        }
        for drop in settings.drops {
            let isWritten = drop.afterImport != .keep
            places.append(.init(what: "the drop folder", path: drop.path, isWritten: isWritten))
            if drop.afterImport == .move, !drop.moveTo.isEmpty {
                places.append(.init(what: "move_to", path: drop.moveTo, isWritten: true))
            }
        }
        return places
    }

    /// Without symbolic links; of what is not there, as far as it is.
    static func resolve(_ path: Path) -> Path {
        guard let found = unsafe path.withCString({ unsafe realpath($0, nil) }) else {
            return path.parent == path || path.parent.isEmpty ? path : resolve(path.parent) / path.name
        }
        defer { unsafe free(found) }
        return unsafe Path(bytes: UnsafeRawBufferPointer(start: found, count: strlen(found)))
    }
}

extension Doctor {
    mutating func add(contentsOf diagnoses: [Diagnosis]) { for diagnosis in diagnoses { add(diagnosis) } }
}
