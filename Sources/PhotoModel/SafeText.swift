/// Makes text that came from outside (names, EXIF strings, decoder messages) harmless in every place it is shown:
/// terminal, log, STATUS= line, HTTP header, page.
///
/// Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional controls (Unicode TR9) become
/// U+FFFD; nothing else changes. Applying it twice changes nothing more.
package enum SafeText {
    package static func of(_ text: String, limit: Int = 1024) -> String {
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            if count == limit {
                result.append("…")
                break
            }
            result.append(isHarmful(scalar) ? "\u{FFFD}" : scalar)
            count += 1
        }
        return String(result)
    }

    package static func of(_ path: Path) -> String { of(path.shown, limit: 4096) }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB,
            0xE0000...0xE007F:
            true
        default: false
        }
    }
}
