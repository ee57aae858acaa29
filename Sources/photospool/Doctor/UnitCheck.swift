internal import PhotoModel

/// What the promises of the service need of its unit, compared with the unit there is.
///
/// Only settings that matter are looked at: others may differ from the unit that this version ships, on purpose.
struct UnitCheck {
    /// A place the service has to reach.
    struct Place: Hashable {
        /// `the library`.
        var what: String
        var path: Path
        var isWritten: Bool
    }

    let unit: UnitText
    let places: [Place]
    /// Where a path really leads.
    var resolve: (Path) -> Path = { $0 }

    private static let check = "unit"

    var diagnoses: [Diagnosis] { supervision + account + places.flatMap(reach) + capabilities }

    // MARK: Start, watchdog, account

    private var supervision: [Diagnosis] {
        var found: [Diagnosis] = []
        let type = unit.value("Type") ?? "simple"
        if type != "notify", type != "notify-reload" {
            found.append(
                .fault(
                    Self.check,
                    "The unit has Type=\(SafeText.of(type)): systemd does not wait until the service is ready,"
                        + " and does not hear its watchdog.", todo: edit("Type=notify")))
        }
        switch Self.seconds(unit.value("WatchdogSec") ?? "0") {
        case 0:
            found.append(
                .warning(
                    Self.check, "The unit has no WatchdogSec: a service that hangs is not noticed.",
                    todo: edit("WatchdogSec=30")))
        case let seconds? where seconds < 10:
            found.append(
                .warning(
                    Self.check,
                    "The unit has WatchdogSec=\(SafeText.of(unit.value("WatchdogSec") ?? "")): one slow fsync of"
                        + " the disk ends the service.", todo: edit("WatchdogSec=30")))
        default: break
        }
        if ["no", nil].contains(unit.value("Restart")) {
            found.append(
                .warning(
                    Self.check, "The unit has no Restart: a service that dies stays down.",
                    todo: edit("Restart=on-failure")))
        }
        return found
    }

    private var account: [Diagnosis] {
        guard ["root", "0", nil].contains(unit.value("User")) else { return [] }
        return [
            .warning(
                Self.check, "The unit runs the service as root, whom no permission stops.",
                todo: edit("User=photospool"))
        ]
    }

    /// Of a time span as systemd.time(7) writes it; nil for one that is not understood, 0 for none.
    static func seconds(_ text: String) -> Double? {
        if text == "infinity" { return 0 }
        let units: [String: Double] = [
            "": 1, "s": 1, "sec": 1, "second": 1, "seconds": 1, "ms": 0.001, "msec": 0.001, "us": 0.000_001, "m": 60,
            "min": 60, "minute": 60, "minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600,
        ]
        var total = 0.0
        for part in text.split(separator: " ") {
            let digits = part.prefix { $0.isNumber || $0 == "." }
            guard let number = Double(digits), let unit = units[String(part.dropFirst(digits.count))] else {
                return nil
            }
            total += number * unit
        }
        return total
    }

    // MARK: Places

    private func reach(_ place: Place) -> [Diagnosis] {
        let shown = "\(place.what) \(SafeText.of(place.path))"
        let start = shown.prefix(1).uppercased() + shown.dropFirst()
        if covers(unit.bindTargets, place.path) { return [] }
        if let hiding = hidden(place.path) {
            return [
                .fault(
                    Self.check, "\(start) is hidden from the service by \(hiding) of the unit.",
                    todo: edit("ProtectHome=tmpfs", "BindPaths=\(SafeText.of(place.path))"))
            ]
        }
        guard place.isWritten, !isWritable(place.path) else { return [] }
        return [
            .fault(
                Self.check, "\(start) is read-only for the service: no ReadWritePaths of the unit covers it.",
                todo: edit("ReadWritePaths=\(SafeText.of(place.path))"))
        ]
    }

    private func hidden(_ path: Path) -> String? {
        if covers(unit.paths("InaccessiblePaths"), path) { return "InaccessiblePaths" }
        let home = unit.value("ProtectHome")?.lowercased() ?? "no"
        if !["no", "false", "off", "0", "read-only"].contains(home),
            covers([Path("/home"), Path("/root"), Path("/run/user")], path)
        {
            return "ProtectHome=\(SafeText.of(home))"
        }
        let temporary = unit.value("PrivateTmp")?.lowercased() ?? "no"
        if !["no", "false", "off", "0"].contains(temporary), covers([Path("/tmp"), Path("/var/tmp")], path) {
            return "PrivateTmp"
        }
        return nil
    }

    private func isWritable(_ path: Path) -> Bool {
        var open = unit.paths("ReadWritePaths")
        for (key, base) in [
            ("StateDirectory", "/var/lib"), ("RuntimeDirectory", "/run"), ("CacheDirectory", "/var/cache"),
            ("LogsDirectory", "/var/log"),
        ] { open += unit.words(key).map { Path(base) / String($0.prefix { $0 != ":" }) } }
        if covers(open, path) { return true }
        if covers(unit.paths("ReadOnlyPaths"), path) { return false }
        switch unit.value("ProtectSystem")?.lowercased() {
        case "strict": return false
        case "full": return !covers([Path("/usr"), Path("/boot"), Path("/efi"), Path("/etc")], path)
        case "yes", "true", "on", "1": return !covers([Path("/usr"), Path("/boot"), Path("/efi")], path)
        default: return !(unit.value("ProtectHome") == "read-only" && covers([Path("/home"), Path("/root")], path))
        }
    }

    private func covers(_ folders: [Path], _ path: Path) -> Bool {
        let real = resolve(path)
        return folders.contains { folder in
            let target = resolve(folder)
            return path == folder || path.below(folder) != nil || real == target || real.below(target) != nil
        }
    }

    // MARK: Capabilities

    private var capabilities: [Diagnosis] {
        let ambient = unit.words("AmbientCapabilities").map { $0.uppercased() }
        guard unit.isSet("CapabilityBoundingSet") else { return [] }
        let bounding = Set(unit.words("CapabilityBoundingSet").map { $0.uppercased() })
        guard !bounding.contains(where: { $0.hasPrefix("~") }) else { return [] }
        let lost = ambient.filter { !bounding.contains($0) }
        guard !lost.isEmpty else { return [] }
        return [
            .warning(
                Self.check, "The unit gives \(SafeText.of(lost.joined(separator: ", "))) and takes it away again.",
                todo: edit("CapabilityBoundingSet=\(SafeText.of(lost.joined(separator: " ")))"))
        ]
    }

    /// Whether the service has a capability given to it by name.
    func gives(_ capability: String) -> Bool {
        unit.words("AmbientCapabilities").contains { $0.uppercased() == capability }
    }

    private func edit(_ lines: String...) -> String {
        "Run `systemctl edit photospool`, write \(lines.joined(separator: " and ")) below [Service], then restart the"
            + " service."
    }
}
