internal import Files
internal import PhotoModel

/// What is known of photospool.service, from systemd or from the files it reads.
enum Systemd {
    static let unitName = "photospool.service"

    /// Nil when no such unit is installed, or none can be read.
    static func unit() -> UnitText? {
        if let systemctl = Tool.find("systemctl") {
            do throws(Tool.Failure) {
                let outcome = try Tool.run(systemctl, ["cat", "--no-pager", unitName])
                if outcome.status == 0 { return UnitText(outcome.output) }
            } catch {
                // Not running here, or not answering: the files are what it would have shown.
            }
        }
        return fromFiles()
    }

    /// As systemd.unit(5) looks for them: a unit in the first folder that has one, drop-ins from all.
    private static func fromFiles() -> UnitText? {
        let folders = [
            "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",
            "/lib/systemd/system",
        ]
        guard var text = folders.lazy.compactMap({ smallFile("\($0)/\(unitName)") }).first else { return nil }
        var dropIns: [Path: String] = [:]
        for folder in folders.reversed() {
            let place = Path(folder) / "\(unitName).d"
            do throws(Errno) {
                try Folder(opening: place).forEachEntry { name, _ in
                    if name.lowercaseExtension == "conf" { dropIns[name] = smallFile((place / name).shown) }
                    return true
                }
            } catch {
                continue  // no drop-ins there
            }
        }
        for name in dropIns.keys.sorted() { text += "\n" + (dropIns[name] ?? "") }
        return UnitText(text)
    }

    static func facts() -> [String: String] {
        guard let systemctl = Tool.find("systemctl") else { return [:] }
        let names = "LoadState,ActiveState,SubState,Result,MainPID,NeedDaemonReload"
        do throws(Tool.Failure) {
            let outcome = try Tool.run(systemctl, ["show", "--no-pager", "-p", names, unitName])
            return outcome.status == 0 ? facts(in: outcome.output) : [:]
        } catch {
            return [:]  // told as what it is: not asked
        }
    }

    static func facts(in text: String) -> [String: String] {
        var facts: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { facts[String(parts[0])] = String(parts[1]) }
        }
        return facts
    }
}
