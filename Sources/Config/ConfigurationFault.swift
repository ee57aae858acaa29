package import PhotoModel

/// One thing that is wrong with the configuration, with its place.
package struct ConfigurationFault: Hashable, Sendable, CustomStringConvertible {
    package let file: Path
    /// From 1; nil when the fault is with the file as a whole.
    package let line: Int?
    /// In characters from 1.
    package let column: Int?
    /// `drop.settle`; empty when the fault is with no key.
    package let key: String
    /// Without a full stop: "unknown key".
    package let sentence: String
    /// What to do, without a full stop.
    package let hint: String?

    /// As compilers write it, so that editors jump to it: `photospool.toml:12:1: drop.setle: unknown key; did you
    /// mean `settle`?`. Safe to print.
    package var description: String {
        var text = file.isEmpty ? "" : SafeText.of(file)
        if let line { text += ":\(line)" }
        if let column, line != nil { text += ":\(column)" }
        if !text.isEmpty { text += ": " }
        if !key.isEmpty { text += SafeText.of(key) + ": " }
        text += SafeText.of(sentence)
        if let hint { text += "; " + SafeText.of(hint) }
        return text
    }
}

/// Everything that is wrong with the configuration, by file, line and column.
package struct ConfigurationFaults: Error, Sendable, CustomStringConvertible {
    /// Never empty.
    package let faults: [ConfigurationFault]

    /// One fault a line.
    package var description: String { faults.map(\.description).joined(separator: "\n") }

    /// All of it as one problem, for the status and the reply to a reload.
    package var problem: Problem {
        let count = faults.count == 1 ? "one fault" : "\(faults.count) faults"
        return Problem(
            .config, "The configuration has \(count): " + faults.map(\.description).joined(separator: " · ") + ".")
    }
}
