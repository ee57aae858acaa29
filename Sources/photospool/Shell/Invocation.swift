internal import PhotoModel

/// A command line, understood.
struct Invocation {
    /// The command and, before it, the ones it stands below.
    var path: [Command]
    var options: [String: [Path]] = [:]
    var operands: [Path] = []
    var console: Console

    var command: Command? { path.last }
    var names: [String] { path.map(\.name) }
    var wantsJSON: Bool { has("json") }

    func has(_ option: String) -> Bool { options[option] != nil }

    /// The value given last, as text.
    func text(_ option: String) -> String? { options[option]?.last?.shown }

    /// A whole number of at least `least`.
    func number(_ option: String, least: Int = 0) throws(Failure) -> Int? {
        guard let text = text(option) else { return nil }
        guard let number = Int(text), number >= least else {
            throw .usage(
                "--\(option) takes a whole number of \(least) or more, not '\(SafeText.of(text))'.", see: names)
        }
        return number
    }

    /// One of `choices`.
    func choice(_ option: String, of choices: [String]) throws(Failure) -> String? {
        guard let text = text(option) else { return nil }
        guard choices.contains(text) else {
            throw .usage(
                "--\(option) takes one of \(choices.joined(separator: ", ")), not '\(SafeText.of(text))'."
                    + suggestion(for: text, among: choices), see: names)
        }
        return text
    }

    /// Operands that are job or batch ids.
    func ids() throws(Failure) -> [Int64] {
        var ids: [Int64] = []
        for operand in operands { ids.append(try id(operand.shown)) }
        return ids
    }

    func id(_ text: String) throws(Failure) -> Int64 {
        guard let id = Int64(text), id > 0 else {
            throw .usage("'\(SafeText.of(text))' is not an id; ids are whole numbers.", see: names)
        }
        return id
    }
}
