internal import PhotoModel

/// Reads a command line by the command table.
///
/// Not getopt_long(3): it keeps its place in global variables, which Swift 6 cannot reach safely, writes its own
/// messages, and takes any unique prefix of an option, so that a new option would change what an old script means. The
/// rules are otherwise its rules: options and operands in any order, `--name=value` or `--name value`, `-n value` or
/// `-nvalue`, letters in one word, and `--` before operands that begin with a dash.
struct ArgumentParser {
    /// What was said, before anything is checked against a command: enough to print help or an error in the form asked.
    var path: [Command] = []
    var options: [String: [Path]] = [:]
    var operands: [Path] = []

    private let table: [Command]
    private var rest: ArraySlice<Path>

    init(_ words: [Path], table: [Command]) {
        self.table = table
        rest = words[...]
    }

    mutating func parse() throws(Failure) {
        var onlyOperands = false
        while let word = rest.popFirst() {
            if onlyOperands || word.bytes == [UInt8(ascii: "-")] || word.bytes.first != UInt8(ascii: "-") {
                try takeOperand(word)
            } else if word == Path("--") {
                onlyOperands = true
            } else if word.bytes.starts(with: Array("--".utf8)) {
                try takeLong(word)
            } else {
                try takeLetters(word)
            }
        }
    }

    /// Whether the words fit the command they name.
    func check() throws(Failure) {
        guard let command = path.last else { return }
        if let child = command.children.first {
            let choices = command.children.map(\.name)
            throw .usage(
                "'\(command.name)' needs one of: \(choices.joined(separator: ", ")); for example"
                    + " 'photospool \(command.name) \(child.name)'.", see: path.map(\.name))
        }
        var least = 0
        var most: Int? = 0
        for operand in command.operands {
            if operand.count == .one || operand.count == .many { least += 1 }
            if operand.count == .many || operand.count == .any { most = nil } else { most = most.map { $0 + 1 } }
        }
        if operands.count < least {
            let missing = command.operands[min(operands.count, command.operands.count - 1)]
            throw .usage("'\(command.name)' needs \(missing.shown).", see: path.map(\.name))
        }
        if let most, operands.count > most {
            throw .usage(
                most == 0
                    ? "'\(command.name)' takes no operands, but got '\(SafeText.of(operands[most]))'."
                    : "'\(command.name)' got one word too many: '\(SafeText.of(operands[most]))'.",
                see: path.map(\.name))
        }
    }

    private mutating func takeOperand(_ word: Path) throws(Failure) {
        let choices = path.isEmpty ? table : path[path.count - 1].children
        guard !choices.isEmpty else { return operands.append(word) }
        let name = word.shown
        guard let command = choices.first(where: { $0.name == name }) else {
            throw .usage(
                "There is no command '\(SafeText.of((path.map(\.name) + [name]).joined(separator: " ")))'."
                    + suggestion(for: name, among: choices.map(\.name)), see: path.map(\.name))
        }
        path.append(command)
    }

    private mutating func takeLong(_ word: Path) throws(Failure) {
        let body = word.bytes.dropFirst(2)
        let equals = body.firstIndex(of: UInt8(ascii: "="))
        let name = String(decoding: body[..<(equals ?? body.endIndex)], as: UTF8.self)
        guard let option = known.first(where: { $0.name == name }) else {
            throw .usage(
                "\(place) has no option '--\(SafeText.of(name))'."
                    + suggestion(for: name, among: known.map(\.name), before: "--"), see: path.map(\.name))
        }
        let value = equals.map { Path(bytes: body[($0 + 1)...]) }
        if option.value == nil, value != nil { throw .usage("--\(name) takes no value.", see: path.map(\.name)) }
        try take(option, value: value)
    }

    private mutating func takeLetters(_ word: Path) throws(Failure) {
        var letters = word.bytes.dropFirst()
        while let byte = letters.popFirst() {
            let letter = Character(Unicode.Scalar(byte))
            guard let option = known.first(where: { $0.letter == letter }) else {
                throw .usage("\(place) has no option '-\(SafeText.of(String(letter)))'.", see: path.map(\.name))
            }
            if option.value != nil, !letters.isEmpty {
                return try take(option, value: Path(bytes: letters))
            }
            try take(option, value: nil)
        }
    }

    private mutating func take(_ option: Option, value: Path?) throws(Failure) {
        guard let placeholder = option.value else { return options[option.name, default: []].append(Path("")) }
        guard let value = value ?? rest.popFirst() else {
            throw .usage("--\(option.name) needs a value: \(placeholder).", see: path.map(\.name))
        }
        options[option.name, default: []].append(value)
    }

    private var known: [Option] { path.flatMap(\.options) + CommandTable.everywhere }
    private var place: String { path.isEmpty ? "photospool" : "'\(path.map(\.name).joined(separator: " "))'" }
}

/// ` Did you mean 'status'?` when one of `choices` is near; otherwise nothing.
func suggestion(for word: String, among choices: [String], before prefix: String = "") -> String {
    nearestName(to: word, among: choices).map { " Did you mean '\(prefix)\($0)'?" } ?? ""
}
