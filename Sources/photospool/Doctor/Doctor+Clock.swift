internal import CLinux
internal import Files
internal import Glibc
internal import PhotoModel

extension Doctor {
    /// Names and dates of photos come from their cameras; retries, batches and what carries no time go by this clock.
    mutating func checkClock() {
        let now = Timestamp.now.rfc3339
        if let fault = Figures.year("clock", Int(now.prefix { $0 != "-" }) ?? 0) {
            add(fault)
        } else {
            add(synchronised(now))
        }
        checkTimeZone()
    }

    /// What the kernel was told by whoever keeps the time; adjtimex(2), asked without setting anything.
    private func synchronised(_ now: String) -> Diagnosis {
        let code = cl_clock_state()
        guard code >= 0 else {
            let reason = Errno(rawValue: -code)
            return .unknown("clock", "Whether the clock is synchronised could not be asked: \(reason).")
        }
        // TIME_ERROR: nobody has set it by a better clock for too long, or ever.
        return code == 5
            ? .warning(
                "clock", "It is \(now) by a clock that is not synchronised.",
                todo: "Run `timedatectl set-ntp true`; in a container or a virtual machine, let the host keep the time."
            )
            : .ok("clock", "It is \(now) by a synchronised clock.")
    }

    private mutating func checkTimeZone() {
        let check = "clock.zone"
        if let zone = installed.settings?.importing.timeZone, !zone.isEmpty {
            return add(.ok(check, "Videos that carry only UTC are dated in \(SafeText.of(zone)), as configured."))
        }
        guard let zone = Self.systemZone() else {
            return add(
                .warning(
                    check, "The machine names no time zone: videos that carry only UTC keep it.",
                    todo: "Run `timedatectl set-timezone Europe/Berlin`, with your own zone, or set import.time_zone."))
        }
        let isUTC = ["UTC", "Etc/UTC", "Universal", "Etc/Universal", "Zulu", "GMT", "Etc/GMT", "UCT", "Etc/UCT"]
            .contains(zone)
        add(
            .ok(
                check,
                "The time zone is \(SafeText.of(zone))"
                    + (isUTC ? ": unless that is meant, set import.time_zone to where the videos are taken." : ".")))
    }

    /// The IANA name behind /etc/localtime, or in /etc/timezone; without either it is UTC, which nobody chose.
    private static func systemZone() -> String? {
        let link = Self.resolve(Path("/etc/localtime"))
        if let name = link.below(Path("/usr/share/zoneinfo")) { return name.shown }
        if let text = smallFile("/etc/timezone")?.split(separator: "\n").first { return String(text) }
        return exists(Path("/etc/localtime")) ? "a local one" : nil
    }
}
