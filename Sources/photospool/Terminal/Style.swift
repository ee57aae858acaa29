/// Colours and marks by meaning. The eight plain colours only: they follow the person's own theme.
struct Style {
    enum Meaning: String {
        case good = "32"
        case bad = "31"
        case warning = "33"
        case active = "36"
        case strong = "1"
        case faint = "2"
    }

    let hasColour: Bool
    let hasUnicode: Bool

    func callAsFunction(_ meaning: Meaning, _ text: String) -> String {
        hasColour && !text.isEmpty ? "\u{1B}[\(meaning.rawValue)m\(text)\u{1B}[0m" : text
    }

    var dot: String { hasUnicode ? "●" : "*" }
    var ring: String { hasUnicode ? "○" : "o" }
    var tick: String { hasUnicode ? "✓" : "+" }
    var cross: String { hasUnicode ? "✗" : "x" }
    var arrow: String { hasUnicode ? "→" : "->" }
    var separator: String { hasUnicode ? " · " : ", " }
    var ellipsis: String { hasUnicode ? "…" : "..." }

    /// What a job's or the service's state means to a person.
    static func meaning(of state: String) -> Meaning {
        switch state {
        case "imported", "running", "ok": .good
        case "failed", "stopped": .bad
        case "degraded", "paused", "waiting", "vanished", "partial": .warning
        case "copying", "previewing", "committing", "starting", "stopping": .active
        default: .faint
        }
    }

    func mark(for state: String) -> String {
        switch Self.meaning(of: state) {
        case .good: self(.good, tick)
        case .bad: self(.bad, cross)
        case .warning: self(.warning, "!")
        default: self(.faint, "-")
        }
    }
}

extension Console {
    var style: Style { Style(hasColour: output.hasColour, hasUnicode: hasUnicode) }
    /// Columns of standard output; `Int.max` where nothing has to fit.
    var width: Int { output.isTerminal ? terminalSize(output.number).columns : .max }
    var errorStyle: Style { Style(hasColour: errors.hasColour, hasUnicode: hasUnicode) }
}
