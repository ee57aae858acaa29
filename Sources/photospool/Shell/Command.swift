/// One entry of the command table. Parsing, help, completions and the check of the man page all read it, so that none
/// of them can say something else than the others.
struct Command: Sendable {
    var name: String
    /// One line, without a full stop.
    var summary: String
    var operands: [Operand] = []
    var options: [Option] = []
    /// Paragraphs for `--help`, each a line of any length.
    var details: [String] = []
    var examples: [Example] = []
    /// When not empty, the command itself does nothing: one of these is chosen.
    var children: [Command] = []
    var run: @Sendable (Invocation) throws(Failure) -> ExitStatus = { _ throws(Failure) in .ok }

    struct Example: Sendable {
        var line: String
        var meaning: String
        init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    /// The options it takes beside ``CommandTable/everywhere``.
    func option(named name: String) -> Option? { options.first { $0.name == name } }
}

/// A word after the command's name.
struct Operand: Sendable {
    enum Count: Sendable { case one, optional, many, any }

    /// As help shows it: `ID`.
    var name: String
    var count: Count = .one
    var completion: Completion = .nothing

    var shown: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .many: "\(name)..."
        case .any: "[\(name)...]"
        }
    }
}

/// `--name`, `--name=VALUE`, and perhaps `-n`.
struct Option: Sendable {
    var name: String
    var letter: Character?
    /// As help shows it; nil for an option without a value.
    var value: String?
    var summary: String
    var completion: Completion = .nothing

    init(
        _ name: String, letter: Character? = nil, value: String? = nil, _ summary: String,
        completion: Completion = .nothing
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.summary = summary
        self.completion = completion
    }

    var shown: String {
        (letter.map { "-\($0), " } ?? "    ") + "--" + name + (value.map { " " + $0 } ?? "")
    }
}

/// What a shell may offer for a word.
enum Completion: Sendable {
    case nothing, files, folders
    case words([String])
}
