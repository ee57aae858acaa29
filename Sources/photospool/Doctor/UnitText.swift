internal import PhotoModel

/// The `[Service]` section of a unit with its drop-ins, as `systemctl cat` prints them; see systemd.syntax(7).
struct UnitText: Hashable, Sendable {
    /// Each key's assignments since the last empty one, which takes back those before it.
    private var values: [String: [String]] = [:]

    init(_ text: String) {
        var section = ""
        var pending = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let trimmed = Self.trimmed(line)
            // A comment in the middle of a continued line is passed over.
            if trimmed.first == "#" || trimmed.first == ";" { continue }
            if trimmed.hasSuffix("\\") {
                pending += trimmed.dropLast() + " "
                continue
            }
            let whole = pending + trimmed
            pending = ""
            if whole.hasPrefix("["), whole.hasSuffix("]") {
                section = whole
            } else if section == "[Service]", let equals = whole.firstIndex(of: "=") {
                let value = Self.trimmed(whole[whole.index(after: equals)...])
                let key = Self.trimmed(whole[..<equals])
                if value.isEmpty { values[key] = [] } else { values[key, default: []].append(value) }
            }
        }
    }

    /// The assignment that counts for a setting that has one value; nil when there is none.
    func value(_ key: String) -> String? { values[key]?.last }

    /// Whether anything is said of it, be it that nothing is given.
    func isSet(_ key: String) -> Bool { values[key] != nil }

    /// All words of a setting that is a list.
    func words(_ key: String) -> [String] { (values[key] ?? []).flatMap(Self.words) }

    /// Paths of a setting such as `ReadWritePaths=-/srv "/a b"`, without the marks before them.
    func paths(_ key: String) -> [Path] {
        words(key).map { word in Path(String(word.drop { "-+".contains($0) })) }
    }

    /// Where `BindPaths=/from:/to` shows things.
    var bindTargets: [Path] {
        (words("BindPaths") + words("BindReadOnlyPaths")).map { word in
            let parts = word.drop { $0 == "-" }.split(separator: ":")
            return Path(String(parts.count > 1 ? parts[1] : parts.first ?? ""))
        }
    }

    /// The value of `--name` in ExecStart.
    func argument(_ name: String) -> String? {
        let words = self.words("ExecStart")
        if let word = words.last(where: { $0.hasPrefix("--\(name)=") }) {
            return String(word.dropFirst(name.count + 3))
        }
        guard let place = words.lastIndex(of: "--\(name)"), place + 1 < words.count else { return nil }
        return words[place + 1]
    }

    /// The program of ExecStart.
    var program: Path? {
        words("ExecStart").first.map { word in Path(String(word.drop { "@-:+!|".contains($0) })) }
    }

    static func words(_ line: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        var isOpen = false
        var isEscaped = false
        for character in line {
            if isEscaped {
                word.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
                isOpen = true
            } else if let mark = quote {
                if character == mark { quote = nil } else { word.append(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                isOpen = true
            } else if character == " " || character == "\t" {
                if isOpen { words.append(word) }
                (word, isOpen) = ("", false)
            } else {
                word.append(character)
                isOpen = true
            }
        }
        return isOpen ? words + [word] : words
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let rest = text.drop { $0 == " " || $0 == "\t" || $0 == "\r" }
        return String(rest.reversed().drop { $0 == " " || $0 == "\t" || $0 == "\r" }.reversed())
    }
}
