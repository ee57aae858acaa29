internal import PhotoModel

/// What every kind of key asks of its value.
extension TOMLValue {
    func isNot(_ wanted: String, example: String? = nil) -> Misfit {
        Misfit("\(kind) stands where \(wanted) is needed", hint: example.map { "write it as \"\($0)\"" })
    }

    func isNoQuantity(_ text: String, _ what: String, units: [String], example: String) -> Misfit {
        Misfit(
            "\"\(text)\" is not \(what)", hint: "write it as \"\(example)\"; units are \(units.joined(separator: ", "))"
        )
    }

    func text(example: String? = nil, as wanted: String = "a string with a unit") throws(Misfit) -> String {
        guard case .string(let text) = content else {
            throw isNot(example == nil ? "a string" : wanted, example: example)
        }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw Misfit("holds a control character")
        }
        return text
    }

    func strings() throws(Misfit) -> [(text: String, value: TOMLValue)] {
        guard case .array(let elements) = content else { throw isNot("an array of strings") }
        var strings: [(String, TOMLValue)] = []
        for element in elements {
            do throws(Misfit) {
                strings.append((try element.text(), element))
            } catch {
                throw Misfit(error.sentence, hint: error.hint, at: error.place ?? element.place)
            }
        }
        return strings
    }

    func size() throws(Misfit) -> ByteCount {
        let text = try text(example: "1GiB")
        guard let size = Units.size(text) else {
            throw isNoQuantity(text, "a size", units: Units.sizes.map(\.0), example: "1GiB")
        }
        return size
    }

    func choice<Choice: RawRepresentable<String>>(among choices: [Choice]) throws(Misfit) -> Choice {
        let text = try text()
        if let choice = choices.first(where: { $0.rawValue == text }) { return choice }
        let names = choices.map(\.rawValue)
        let meant = nearestName(to: text, among: names).map { "did you mean \"\($0)\"? " } ?? ""
        throw Misfit(
            "\"\(text)\" is not allowed",
            hint: meant + "allowed are " + names.map { "\"\($0)\"" }.joined(separator: ", "))
    }

    /// Absolute, without `.`, `..`, doubled or trailing slashes.
    func path(mayBeEmpty: Bool) throws(Misfit) -> Path {
        let text = try text()
        if text.isEmpty {
            guard mayBeEmpty else { throw Misfit("is empty", hint: "write an absolute path") }
            return Path(bytes: [])
        }
        let path = Path(text)
        guard path.isAbsolute else {
            throw Misfit("\"\(text)\" is not an absolute path", hint: "start it with a slash")
        }
        let components = path.components
        guard !components.contains(Path(".")), !components.contains(Path("..")) else {
            throw Misfit("\"\(text)\" goes through . or ..", hint: "write the path without them")
        }
        guard !components.isEmpty else { throw Misfit("is the root directory", hint: "choose a folder") }
        guard components.allSatisfy({ $0.bytes.count <= 255 }), path.bytes.count < 4096 else {
            throw Misfit("is longer than a path can be")
        }
        return components.reduce(Path("/")) { $0 / $1 }
    }
}
