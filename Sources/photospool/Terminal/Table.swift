/// Rows under headings, in columns as wide as they need to be.
struct Table {
    struct Column {
        var title: String
        var isRight = false
        /// Gives way when the terminal is narrow; at most one column should.
        var isFlexible = false
    }

    /// A text and what it means; only the shown text counts for the width.
    struct Cell {
        var text: String
        var meaning: Style.Meaning?
        init(_ text: String, _ meaning: Style.Meaning? = nil) {
            self.text = text
            self.meaning = meaning
        }
    }

    var columns: [Column]
    var rows: [[Cell]] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// - Parameter width: of the terminal; `Int.max` cuts nothing, for a pipe or a file.
    func lines(style: Style, width: Int) -> [String] {
        var widths = columns.indices.map { column in
            rows.map { photospool.columns(of: $0[column].text) }.reduce(
                photospool.columns(of: columns[column].title), max)
        }
        let gap = 2
        if let flexible = columns.firstIndex(where: \.isFlexible) {
            let excess = widths.reduce(0, +) + gap * (widths.count - 1) - width
            if excess > 0 { widths[flexible] = max(12, widths[flexible] - excess) }
        }
        var lines = [line(columns.map { Cell($0.title, .strong) }, widths, style, gap)]
        for row in rows { lines.append(line(row, widths, style, gap)) }
        return lines
    }

    private func line(_ cells: [Cell], _ widths: [Int], _ style: Style, _ gap: Int) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            if column > 0 { line += String(repeating: " ", count: gap) }
            let text = shortened(cell.text, to: widths[column], ellipsis: style.ellipsis)
            let space = String(repeating: " ", count: max(0, widths[column] - photospool.columns(of: text)))
            let shown = cell.meaning.map { style($0, text) } ?? text
            if columns[column].isRight {
                line += space + shown
            } else {
                line += shown + space
            }
        }
        while line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}

extension Console {
    func print(_ table: Table) {
        for line in table.lines(style: style, width: width) { print(line) }
    }
}
