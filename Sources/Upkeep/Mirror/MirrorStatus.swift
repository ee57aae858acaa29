package import PhotoModel
import Store

/// How the mirror is, for whoever asks.
package struct MirrorStatus: Sendable {
    package let path: Path
    /// nil while it is not there.
    package let freeBytes: Int64?
    /// Files that are not on it and should be, or are and should not.
    package let behind: Int64
    /// What keeps it behind.
    package let reasons: [Problem]

    init(path: Path, freeBytes: Int64?, behind: Int64, reasons: [Problem]) {
        self.path = path
        self.freeBytes = freeBytes
        self.behind = behind
        self.reasons = reasons
    }

    init(
        path: Path, freeBytes: Int64?, debts: Store.MirrorDebts, outage: Problem?, refusals: [Problem],
        removal: Problem?, journal: Problem?
    ) {
        let shown = SafeText.of(path)
        var reasons: [Problem] = []
        if let outage {
            reasons.append(outage.onMirror(saying: " The mirror \(shown) is \(Self.files(debts.all)) behind."))
        }
        if debts.refused > 0 {
            let more = " The mirror \(shown) cannot get \(Self.files(debts.refused))."
            for problem in refusals.sorted(by: { $0.code.rawValue < $1.code.rawValue }) {
                reasons.append(Problem(problem.code, problem.whatHappened + more, todo: problem.whatToDo))
            }
        }
        if debts.removals > 0, let removal { reasons.append(removal) }
        if let journal { reasons.append(journal) }
        self.init(path: path, freeBytes: freeBytes, behind: debts.all, reasons: reasons)
    }

    private static func files(_ count: Int64) -> String { count == 1 ? "1 file" : "\(count) files" }
}
