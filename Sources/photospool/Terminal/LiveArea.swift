/// Lines at the bottom of the terminal that are drawn over again and again, on standard error. What is printed on
/// standard output meanwhile scrolls by above them.
///
/// The cursor is hidden while they stand; ``leave()`` brings it back, and ``Console/atEnd`` does when the program ends in
/// between.
final class LiveArea {
    private let console: Console
    private var drawn: [String] = []
    private var isCursorHidden = false

    init(_ console: Console) {
        self.console = console
        console.atEnd = { [unowned self] in leave() }
    }

    /// Draws `lines` instead of those that stand there; nothing is sent when they are the same.
    func show(_ lines: [String]) {
        let size = terminalSize(console.errors.number)
        let fitting = lines.prefix(max(1, size.lines - 1)).map { clipped($0, to: size.columns - 1) }
        guard fitting != drawn else { return }
        // Between the two marks a terminal that knows them (DEC mode 2026) shows nothing half drawn.
        var text = "\u{1B}[?2026h" + (isCursorHidden ? "" : "\u{1B}[?25l") + home
        for line in fitting { text += line + "\u{1B}[K\n" }
        text += "\u{1B}[J\u{1B}[?2026l"
        isCursorHidden = true
        drawn = fitting
        console.draw(text)
    }

    /// Takes the lines away, so that something can be printed; the next ``show(_:)`` brings them back.
    func erase() {
        guard !drawn.isEmpty else { return }
        console.draw(home + "\u{1B}[J")
        drawn = []
    }

    /// After the terminal's size changed: what stands there was wrapped anew if it got narrower, so it takes more rows.
    func redrawFromScratch() {
        guard !drawn.isEmpty else { return }
        let lines = drawn
        let width = terminalSize(console.errors.number).columns
        let rows = lines.reduce(0) { $0 + max(1, (columns(of: $1) + width - 1) / width) }
        console.draw("\r\u{1B}[\(rows)A\u{1B}[J")
        drawn = []
        show(lines)
    }

    /// Leaves the last lines standing and gives the cursor back.
    func leave() {
        guard isCursorHidden else { return }
        isCursorHidden = false
        drawn = []
        console.draw("\u{1B}[?25h")
    }

    private var home: String { drawn.isEmpty ? "" : "\r\u{1B}[\(drawn.count)A" }
}
