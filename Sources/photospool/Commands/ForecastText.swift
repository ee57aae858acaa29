internal import ControlAPI
internal import PhotoModel

/// What a dry run says of one shot, a line a file.
struct ForecastText {
    let style: Style

    func lines(of group: ImportGroupBody) -> [String] {
        var lines = group.files.enumerated().map { place, file in
            // The files of one shot stand below the first.
            let indent = place == 0 ? "" : "  "
            let size = style(.faint, Amounts.bytes(file.size))
            var words = "\(mark(file.outcome))  \(indent)\(SafeText.of(file.path))  \(size)  \(outcome(file))"
            if let owner = file.companionOf { words += style(.faint, ", \(role(file.role)) of \(name(owner))") }
            if let asset = group.joins, file.outcome == "import" {
                words += style(.faint, ", joins asset \(SafeText.of(asset))")
            }
            return words
        }
        if let error = group.error {
            lines.append(
                "   \(style(.warning, SafeText.of(error.detail))) \(style(.faint, "(\(SafeText.of(error.code)))"))")
        }
        return lines
    }

    private func mark(_ outcome: String?) -> String {
        switch outcome {
        case "import": style(.good, "+")
        case "duplicate", "known": style(.faint, "=")
        case "refused": style(.warning, "-")
        default: " "
        }
    }

    private func outcome(_ file: ImportFileBody) -> String {
        switch file.outcome {
        case "import": return "-> " + SafeText.of(file.libraryPath ?? "")
        case "duplicate":
            if let path = file.sameAs { return "same bytes as \(SafeText.of(path))" }
            return "duplicate of asset \(SafeText.of(file.assetID ?? ""))"
        case "known":
            let job = file.jobID.map { "job \($0), \(SafeText.of(file.jobState ?? ""))" } ?? "handed over before"
            return "known already: " + job + (file.assetID.map { ", asset \(SafeText.of($0))" } ?? "")
        case "refused": return "refused"
        case let other: return SafeText.of(other ?? "")
        }
    }

    private func role(_ role: String) -> String { SafeText.of(role).split(separator: "_").joined(separator: " ") }

    private func name(_ path: String) -> String { SafeText.of(Path(path).name) }

    static func rule(_ rule: String) -> String {
        switch rule {
        case "built_in": "by the list that always stands"
        case "own": "as the service's own"
        case "move_to": "as the folder of moved sources"
        case let other: "by \(SafeText.of(other))"
        }
    }
}
