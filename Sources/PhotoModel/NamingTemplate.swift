/// Where an original goes in the library: `{year}/{year}-{month}-{day}/{stem}{ext}`. DESIGN section 8.
///
/// Reading one checks everything that can be known beforehand; rendering (``paths(for:suffixes:collision:rules:)``)
/// then cannot fail, whatever the photo says about itself.
package struct NamingTemplate: Hashable, Sendable {
    package enum Token: String, CaseIterable, Sendable {
        case year, month, day, hour, minute, second, subsec
        case make, model, lens
        case stem, ext
        case drop, batch, seq, sha, id

        /// The range of N in `{seq:N}`; nil for tokens that take no number.
        var widths: ClosedRange<Int>? {
            switch self {
            case .seq: 1...18
            case .sha: 4...64
            default: nil
            }
        }
    }

    enum Piece: Hashable, Sendable {
        case literal([UInt8])
        case token(Token, width: Int?)
    }

    /// Why a text is no template.
    package struct Fault: Error, Hashable, Sendable {
        /// Characters of the template before the fault.
        package let offset: Int
        /// Without a full stop: "unknown token {yaer}".
        package let sentence: String
        package let hint: String?
    }

    /// As it was written.
    package let text: String
    /// The components of the path, each with one piece or more. The last piece of the last one is `{ext}`.
    let components: [[Piece]]

    package static let usual = "{year}/{year}-{month}-{day}/{stem}{ext}"

    /// At most this many folders deep, so that no path comes near PATH_MAX.
    static let mostComponents = 8

    package init(_ text: String) throws(Fault) {
        self.text = text
        var reader = TemplateReader(text)
        components = try reader.components()
    }

    /// Whether `token` occurs: a number for `{seq}` has to be taken only then.
    package func uses(_ token: Token) -> Bool {
        components.contains { component in
            component.contains { piece in
                if case .token(token, _) = piece { true } else { false }
            }
        }
    }
}

/// Reads a template from left to right and knows how far it has come.
private struct TemplateReader {
    private let characters: [Character]
    private var position = 0
    private var done: [[NamingTemplate.Piece]] = []
    private var current: [NamingTemplate.Piece] = []
    private var literal: [UInt8] = []
    private var componentStart = 0
    private var extensionEnd: Int?

    init(_ text: String) { characters = Array(text) }

    mutating func components() throws(NamingTemplate.Fault) -> [[NamingTemplate.Piece]] {
        guard !characters.isEmpty else {
            throw fault(0, "is empty", "the usual one is `\(NamingTemplate.usual)`")
        }
        while position < characters.count { try readOne() }
        try endComponent()
        guard extensionEnd == characters.count else {
            throw fault(
                extensionEnd ?? characters.count, "has to end in {ext}",
                "the files of one shot differ only there, as in `\(NamingTemplate.usual)`")
        }
        guard done.last?.count ?? 0 > 1 else {
            throw fault(componentStart, "has a file name of nothing but {ext}", "put {stem} before it")
        }
        guard done.count <= NamingTemplate.mostComponents else {
            throw fault(0, "is more than \(NamingTemplate.mostComponents) components deep", nil)
        }
        return done
    }

    private mutating func readOne() throws(NamingTemplate.Fault) {
        let character = characters[position]
        let next = position + 1 < characters.count ? characters[position + 1] : nil
        switch character {
        case "/":
            try endComponent()
            position += 1
            componentStart = position
        case "{" where next == "{", "}" where next == "}":
            literal += character.utf8
            position += 2
        case "{": try readToken()
        case "}": throw fault(position, "has a } without its {", "write }} for the character itself")
        default:
            guard !character.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
                throw fault(position, "has a control character", nil)
            }
            literal += character.utf8
            position += 1
        }
    }

    private mutating func readToken() throws(NamingTemplate.Fault) {
        let start = position
        guard let end = characters[start...].firstIndex(of: "}") else {
            throw fault(start, "has a { without its }", "write {{ for the character itself")
        }
        let inside = String(characters[(start + 1)..<end])
        let parts = inside.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let token = NamingTemplate.Token(rawValue: name) else {
            let names = NamingTemplate.Token.allCases.map(\.rawValue)
            let hint = nearestName(to: name, among: names).map { "did you mean `{\($0)}`?" }
            throw fault(
                start, "has the unknown token {\(SafeText.of(inside, limit: 40))}",
                hint ?? "known are " + names.map { "{\($0)}" }.joined(separator: " "))
        }
        var width: Int?
        if parts.count == 2 {
            guard let range = token.widths else {
                throw fault(start, "gives {\(name)} a number, which it does not take", nil)
            }
            guard let number = Int(parts[1]), range.contains(number) else {
                throw fault(
                    start, "gives {\(name)} a width that is no number from \(range.lowerBound) to \(range.upperBound)",
                    nil)
            }
            width = number
        }
        flushLiteral()
        if token == .ext {
            guard extensionEnd == nil else { throw fault(start, "has {ext} twice", nil) }
            if case .literal(let bytes)? = current.last, bytes.last == UInt8(ascii: ".") {
                throw fault(start, "has a dot before {ext}, which brings its own", "leave the dot out")
            }
            extensionEnd = end + 1
        }
        current.append(.token(token, width: width))
        position = end + 1
    }

    private mutating func flushLiteral() {
        guard !literal.isEmpty else { return }
        current.append(.literal(literal))
        literal = []
    }

    private mutating func endComponent() throws(NamingTemplate.Fault) {
        flushLiteral()
        guard let first = current.first else {
            if done.isEmpty, position == 0 { throw fault(0, "starts with a slash", "it is relative to the library") }
            throw fault(componentStart, "has a component without a name", "write a single slash between two names")
        }
        if case .literal(let bytes) = first, bytes.first == UInt8(ascii: ".") {
            throw fault(componentStart, "has a component that starts with a dot", "hidden files are never shown")
        }
        done.append(current)
        current = []
    }

    private func fault(_ offset: Int, _ sentence: String, _ hint: String?) -> NamingTemplate.Fault {
        NamingTemplate.Fault(offset: offset, sentence: sentence, hint: hint)
    }
}
