/// A bar that shows how much of something is done.
struct Bar {
    let style: Style
    let width: Int

    /// - Parameter fraction: 0...1; anything else is taken for the nearer end.
    func drawn(_ fraction: Double, _ meaning: Style.Meaning = .active) -> String {
        let share = fraction.isFinite ? min(1, max(0, fraction)) : 0
        // The end is drawn only when it is reached.
        let full = share == 1 ? width : min(width - 1, Int(share * Double(width)))
        if !style.hasUnicode {
            let head = full < width && full > 0 ? ">" : ""
            let body = String(repeating: "=", count: max(0, full - (head.isEmpty ? 0 : 1)))
            return "[" + body + head + String(repeating: " ", count: width - full) + "]"
        }
        return style(share == 1 ? .good : meaning, String(repeating: "━", count: full))
            + style(.faint, String(repeating: "╌", count: width - full))
    }

    func drawn(_ done: Int64, of total: Int64, _ meaning: Style.Meaning = .active) -> String {
        drawn(total > 0 ? Double(done) / Double(total) : 0, meaning)
    }
}
