internal import PhotoModel

/// What one check came to.
struct Diagnosis: Encodable, Hashable, Sendable {
    enum State: String, Encodable, Sendable, CaseIterable {
        case ok, warning, fault
        /// Could not be asked, by this user or on this machine: neither good nor bad.
        case unknown
    }

    /// What was checked, from the large to the small: `drop.card.readable`. Several findings of one check share it.
    var check: String
    var state: State
    /// A whole sentence, with the figures.
    var detail: String
    /// What to do, a whole sentence; empty when nothing has to be done.
    var recovery: String

    static func ok(_ check: String, _ detail: String) -> Diagnosis {
        Diagnosis(check: check, state: .ok, detail: detail, recovery: "")
    }

    static func warning(_ check: String, _ detail: String, todo recovery: String) -> Diagnosis {
        Diagnosis(check: check, state: .warning, detail: detail, recovery: recovery)
    }

    static func fault(_ check: String, _ detail: String, todo recovery: String) -> Diagnosis {
        Diagnosis(check: check, state: .fault, detail: detail, recovery: recovery)
    }

    static func unknown(_ check: String, _ detail: String, todo recovery: String = asRoot) -> Diagnosis {
        Diagnosis(check: check, state: .unknown, detail: detail, recovery: recovery)
    }

    static let asRoot = "Ask as root: sudo photospool doctor"
}

/// Goes through an installation, check by check, and keeps what they came to. Changes nothing.
///
/// Each check stands in a file of its own; what they all need to know was found out before, once: ``Installed``.
struct Doctor {
    let installed: Installed
    private(set) var diagnoses: [Diagnosis] = []
    /// What the check of each drop folder met, for the limits.
    var folders: [DropContents] = []

    init(_ installed: Installed) { self.installed = installed }

    /// In the order in which one would repair things: what the others rest on first.
    mutating func run() {
        checkConfiguration()
        checkPrograms()
        checkUnit()
        checkDecoder()
        checkMovieDecoder()
        if let settings = installed.settings {
            checkLibrary(settings)
            checkMirror(settings)
            checkState()
            for drop in settings.drops { checkDrop(drop) }
        } else {
            add(.unknown("library", Self.noConfiguration, todo: Self.repairConfiguration))
            checkState()
            add(.unknown("drops", Self.noConfiguration, todo: Self.repairConfiguration))
        }
        checkLimits()
        checkClock()
        checkControl()
        checkService()
    }

    mutating func add(_ diagnosis: Diagnosis) {
        var diagnosis = diagnosis
        // Root is root already: then it is the machine that cannot tell.
        if installed.isRoot, diagnosis.recovery == Diagnosis.asRoot { diagnosis.recovery = "" }
        diagnoses.append(diagnosis)
    }

    func has(_ state: Diagnosis.State) -> Bool { diagnoses.contains { $0.state == state } }

    private static let noConfiguration = "Could not be checked: there is no valid configuration that names it."
    private static let repairConfiguration = "Correct the configuration, then run `photospool doctor` again."
}
