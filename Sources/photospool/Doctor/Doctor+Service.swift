internal import ControlAPI
internal import Files
internal import Glibc
internal import PhotoModel

extension Doctor {
    // MARK: The socket

    /// Whether whoever asks may talk to the service, and the socket is what was configured.
    mutating func checkControl() {
        let path = installed.socket
        let shown = SafeText.of(path)
        var found = stat()
        guard unsafe path.withCString({ unsafe stat($0, &found) }) == 0 else {
            let reason = Errno.last
            if reason == .noEntry {
                return add(
                    .unknown("control", "There is no socket \(shown): the service does not run.", todo: Self.start))
            }
            return add(.unknown("control", "The socket \(shown) could not be looked at: \(reason)."))
        }
        let group = SafeText.of(Accounts.groupName(found.st_gid))
        let mode = String(UInt32(found.st_mode) & 0o7777, radix: 8)
        let me = SafeText.of(Accounts.userName(geteuid()))
        if unsafe path.withCString({ unsafe access($0, W_OK) }) == 0 {
            add(.ok("control", "\(me) may talk to the service at \(shown) (group \(group), mode \(mode))."))
        } else {
            add(
                .warning(
                    "control", "\(me) may not talk to the service at \(shown) (group \(group), mode \(mode)).",
                    todo: found.st_gid == 0
                        ? "Set control.group to a group of its own, restart the service, and join that group."
                        : "Add \(me) to its group, then log in again: sudo usermod -aG \(group) \(me)"))
        }
        if UInt32(found.st_mode) & 0o007 != 0 {
            add(
                .warning(
                    "control", "Everybody on this machine may look at the service through \(shown) (mode \(mode)).",
                    todo: "Set control.mode to \"0660\", or SocketMode= of photospool.socket, and restart the service.")
            )
        }
    }

    private static let start = "Start it with: systemctl start photospool"

    // MARK: The service

    /// What it says of itself, each reason with its recovery.
    mutating func checkService() {
        switch installed.status {
        case .failure(let failure): tellSilence(failure)
        case .success(let status): tell(status)
        }
    }

    private mutating func tellSilence(_ failure: Failure) {
        let detail = SafeText.of(failure.detail)
        if installed.unitFacts["ActiveState"] == "failed" {
            let result = SafeText.of(installed.unitFacts["Result"] ?? "unknown")
            return add(
                .fault(
                    "service", "The service has failed (\(result)). \(detail)",
                    todo: "Look at it with `journalctl -u photospool -b`, correct what it says, then `systemctl restart"
                        + " photospool`."))
        }
        if failure.status == .notPermitted {
            return add(
                .unknown("service", "How the service is doing could not be asked. \(detail)", todo: failure.recovery))
        }
        if installed.isStateHeld == true {
            return add(
                .fault(
                    "service", "A process holds the state directory, but no service answers. \(detail)",
                    todo:
                        "Compare control.socket of the configuration with --socket; look at `journalctl -u photospool`."
                ))
        }
        add(.warning("service", detail, todo: failure.recovery))
    }

    private mutating func tell(_ status: StatusBody) {
        let up = Amounts.duration(status.uptime)
        let state = SafeText.of(status.state)
        let figures =
            "\(Amounts.grouped(status.queue.imported)) imported, \(Amounts.grouped(status.queue.queued)) queued,"
            + " \(Amounts.grouped(status.queue.failed)) failed"
        switch status.state {
        case "paused":
            add(
                .warning(
                    "service", "The service is paused, up \(up).", todo: "Run `photospool resume` to go on importing."))
        case "degraded":
            let hasReasons = !status.reasons.isEmpty || status.drops.contains { !$0.reasons.isEmpty }
            add(
                .warning(
                    "service", "The service is degraded, up \(up): \(figures).",
                    todo: hasReasons ? "Do what its reasons say, which come next." : "Look at `photospool status`."))
        default: add(.ok("service", "The service is \(state), up \(up): \(figures)."))
        }
        for reason in status.reasons { add(Self.diagnosis("service", reason)) }
        for drop in status.drops {
            let check = "service.drop.\(SafeText.of(drop.name))"
            for reason in drop.reasons where !status.reasons.contains(reason) { add(Self.diagnosis(check, reason)) }
            if drop.health == "degraded", drop.reasons.isEmpty {
                add(
                    .warning(
                        check, "The service calls this drop folder degraded.", todo: "Look at `photospool status`."))
            }
        }
        if status.queue.failed > 0 {
            add(
                .warning(
                    "service.jobs", "\(Amounts.count(status.queue.failed, "job")) failed.",
                    todo: "Look at them with: photospool jobs --state failed"))
        }
    }

    /// Codes begin with W for what restricts, E for what stops.
    private static func diagnosis(_ check: String, _ reason: ErrorBody) -> Diagnosis {
        let detail = "\(SafeText.of(reason.detail)) (\(SafeText.of(reason.code)))"
        let recovery = SafeText.of(reason.recovery)
        return reason.code.hasPrefix("W_")
            ? .warning(check, detail, todo: recovery) : .fault(check, detail, todo: recovery)
    }
}
