internal import ControlAPI
internal import PhotoModel

extension Command {
    static let doctor = Command(
        name: "doctor",
        summary: "check the whole installation and say what to fix",
        options: [
            .config,
            Option(
                "state-dir", value: "DIR", "the state directory, when the service was given another one",
                completion: .folders),
        ],
        details: [
            "Checks configuration, programs, unit, decoder, library, state, drop folders, limits, clock and permissions, and"
                + " asks the service how it is doing. Each check ends with ok, a warning or a fault, and the last two with"
                + " what to do. What could not be asked, because this user may not or the machine has no such thing, is told"
                + " as unknown and never as ok: as root nearly all can be asked. The service need not run.",
            "Nothing is changed. Exits with 0 when there is no fault, else with 1; warnings alone are no fault.",
        ],
        examples: [
            .init("sudo photospool doctor", "everything"),
            .init("photospool doctor --json | jq '.[] | select(.state == \"fault\")'", "faults only, for a script"),
        ]
    ) { invocation throws(Failure) in
        var doctor = Doctor(try Installed(invocation))
        doctor.run()
        let console = invocation.console
        if invocation.wantsJSON {
            console.print(json: try Daemon.encode(doctor.diagnoses))
        } else {
            for diagnosis in doctor.diagnoses { console.show(diagnosis, in: doctor.diagnoses) }
            console.say(summary(of: doctor))
        }
        return doctor.has(.fault) ? .failed : .ok
    }

    private static func summary(of doctor: Doctor) -> String {
        func count(_ state: Diagnosis.State) -> Int { doctor.diagnoses.count { $0.state == state } }
        var parts = [
            count(.fault) == 0 ? "No fault" : Amounts.count(count(.fault), "fault"),
            count(.warning) == 0 ? "no warning" : Amounts.count(count(.warning), "warning"),
        ]
        if count(.unknown) > 0 {
            parts.append("\(Amounts.count(count(.unknown), "check")) could not be made")
        }
        let ask = count(.unknown) > 0 && !doctor.installed.isRoot ? " As root more can be asked." : ""
        return parts.joined(separator: ", ") + ".\(ask)"
    }
}

extension Console {
    /// Mark, check, sentence; and below, what to do.
    func show(_ diagnosis: Diagnosis, in all: [Diagnosis]) {
        let mark =
            switch diagnosis.state {
            case .ok: style(.good, style.tick)
            case .warning: style(.warning, "!")
            case .fault: style(.bad, style.cross)
            case .unknown: style(.faint, "?")
            }
        let left = min(26, all.map { columns(of: $0.check) }.max() ?? 0)
        let lines = wrapped(diagnosis.detail, to: width, indent: left + 4)
        let first = lines.first.map { String($0.drop { $0 == " " }) } ?? ""
        print("\(mark) \(padded(diagnosis.check, to: left))  \(first)")
        for line in lines.dropFirst() { print(line) }
        guard !diagnosis.recovery.isEmpty else { return }
        let margin = String(repeating: " ", count: left + 4)
        let advice = wrapped(diagnosis.recovery, to: width, indent: left + 6)
        for (position, line) in advice.enumerated() {
            let text = String(line.drop { $0 == " " })
            print(margin + (position == 0 ? style(.faint, style.arrow) : " ") + " " + text)
        }
    }
}
