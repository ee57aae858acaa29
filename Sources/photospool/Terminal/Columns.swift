internal import Glibc

/// Terminal columns a text takes. Escape sequences take none; the text itself is already safe.
///
/// An approximation of wcwidth(3) that needs no locale: combining and format characters are 0, East Asian wide and
/// emoji presentation are 2 (Unicode TR11), all else 1.
func columns(of text: String) -> Int {
    var total = 0
    var isEscape = false
    for character in text {
        if isEscape {
            if character.isLetter { isEscape = false }
        } else if character == "\u{1B}" {
            isEscape = true
        } else {
            total += columns(of: character)
        }
    }
    return total
}

func columns(of character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if first.value < 0x7F { return character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1 }
    switch first.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
    switch first.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
        return 2
    default: return 1
    }
}

/// Cuts plain text to `limit` columns, with `ellipsis` where something is missing; in the middle, because names of
/// photos differ at their ends.
func shortened(_ text: String, to limit: Int, ellipsis: String) -> String {
    guard columns(of: text) > limit else { return text }
    let room = limit - columns(of: ellipsis)
    guard room > 0 else { return String(text.prefix(max(0, limit))) }
    var tail: [Character] = []
    var used = 0
    for character in text.reversed() {
        guard used + columns(of: character) <= room - room / 3 else { break }
        tail.append(character)
        used += columns(of: character)
    }
    var head: [Character] = []
    for character in text {
        guard used + columns(of: character) <= room else { break }
        head.append(character)
        used += columns(of: character)
    }
    return String(head) + ellipsis + String(tail.reversed())
}

/// Cuts a drawn line, escape sequences included, so that a terminal of `limit` columns does not wrap it.
func clipped(_ line: String, to limit: Int) -> String {
    guard columns(of: line) > limit else { return line }
    var result = ""
    var used = 0
    var isEscape = false
    for character in line {
        if isEscape || character == "\u{1B}" {
            isEscape = !(isEscape && character.isLetter)
            result.append(character)
        } else {
            used += columns(of: character)
            if used > limit { break }
            result.append(character)
        }
    }
    return result + (line.contains("\u{1B}") ? "\u{1B}[0m" : "")
}

func padded(_ text: String, to width: Int, right: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - columns(of: text)))
    return right ? space + text : text + space
}

/// As many of `parts`, first ones first, as fit into `limit` columns.
func fitting(_ parts: [String], separator: String, in limit: Int) -> String {
    var line = parts.first ?? ""
    for part in parts.dropFirst() {
        let longer = line + separator + part
        guard columns(of: longer) <= limit else { break }
        line = longer
    }
    return line
}

/// Breaks a text between its words into lines of at most `limit` columns, each after `indent` spaces.
func wrapped(_ text: String, to limit: Int, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
        if !line.isEmpty, indent + columns(of: line) + 1 + columns(of: String(word)) > limit {
            lines.append(margin + line)
            line = ""
        }
        line += (line.isEmpty ? "" : " ") + word
    }
    return lines + (line.isEmpty ? [] : [margin + line])
}

/// Columns and lines of the terminal behind `number`; 80 by 24 when it does not say.
func terminalSize(_ number: Int32) -> (columns: Int, lines: Int) {
    var size = winsize()
    let known = unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    return known ? (Int(size.ws_col), max(1, Int(size.ws_row))) : (80, 24)
}
