internal import PhotoModel

/// A value that cannot be taken: what is wrong, what to write instead, and the place when it is not the value's own.
struct Misfit: Error {
    var sentence: String
    var hint: String?
    var place: Place?

    init(_ sentence: String, hint: String? = nil, at place: Place? = nil) {
        self.sentence = sentence
        self.hint = hint
        self.place = place
    }
}

/// One key of a table: its name, and how its value is checked and put where it belongs.
struct SettingKey<Target> {
    typealias Take = (TOMLValue, inout Target) throws(Misfit) -> Void

    let name: String
    let take: Take

    init(_ name: String, _ take: @escaping Take) {
        self.name = name
        self.take = take
    }
}

/// The kinds of value there are.
extension SettingKey {
    static func text(
        _ name: String, _ target: WritableKeyPath<Target, String>,
        check: @escaping (String, TOMLValue) throws(Misfit) -> Void = { _, _ throws(Misfit) in }
    ) -> SettingKey {
        SettingKey(name) { value, settings throws(Misfit) in
            let text = try value.text()
            try check(text, value)
            settings[keyPath: target] = text
        }
    }

    static func flag(_ name: String, _ target: WritableKeyPath<Target, Bool>) -> SettingKey {
        SettingKey(name) { value, settings throws(Misfit) in
            guard case .boolean(let flag) = value.content else { throw value.isNot("true or false") }
            settings[keyPath: target] = flag
        }
    }

    static func number(_ name: String, _ range: ClosedRange<Int>, _ target: WritableKeyPath<Target, Int>) -> SettingKey
    {
        SettingKey(name) { value, settings throws(Misfit) in
            guard case .integer(let number) = value.content else { throw value.isNot("an integer") }
            guard let fitting = Int(exactly: number), range.contains(fitting) else {
                throw Misfit("\(number) is not from \(range.lowerBound) to \(range.upperBound)")
            }
            settings[keyPath: target] = fitting
        }
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ target: WritableKeyPath<Target, Choice>
    ) -> SettingKey {
        SettingKey(name) { value, settings throws(Misfit) in
            settings[keyPath: target] = try value.choice(among: Array(Choice.allCases))
        }
    }

    static func duration(
        _ name: String, _ range: ClosedRange<Duration>, _ target: WritableKeyPath<Target, Duration>
    ) -> SettingKey {
        SettingKey(name) { value, settings throws(Misfit) in
            let text = try value.text(example: "2s")
            guard let duration = Units.duration(text) else {
                throw value.isNoQuantity(text, "a time", units: Units.durations.map(\.0), example: "2s")
            }
            guard range.contains(duration) else {
                throw Misfit(
                    "\"\(text)\" is not from \(Units.shown(range.lowerBound)) to \(Units.shown(range.upperBound))")
            }
            settings[keyPath: target] = duration
        }
    }

    static func size(_ name: String, _ target: WritableKeyPath<Target, ByteCount>) -> SettingKey {
        SettingKey(name) { value, settings throws(Misfit) in settings[keyPath: target] = try value.size() }
    }

    static func pixels(_ name: String, _ target: WritableKeyPath<Target, Pixels>) -> SettingKey {
        SettingKey(name) { value, settings throws(Misfit) in
            let text = try value.text(example: "400MP")
            guard let pixels = Units.pixels(text) else {
                throw value.isNoQuantity(text, "a number of pixels", units: Units.pixels.map(\.0), example: "400MP")
            }
            guard pixels.count > 0 else { throw Misfit("has to be more than 0") }
            settings[keyPath: target] = pixels
        }
    }

    static func path(_ name: String, _ target: WritableKeyPath<Target, Path>, mayBeEmpty: Bool = false) -> SettingKey {
        SettingKey(name) { value, settings throws(Misfit) in
            settings[keyPath: target] = try value.path(mayBeEmpty: mayBeEmpty)
        }
    }

    /// Permission bits as an octal string; `needed` have to be there, nothing beyond `allowed` may be.
    static func mode(
        _ name: String, needed: UInt32, allowed: UInt32, _ target: WritableKeyPath<Target, UInt32>
    ) -> SettingKey {
        SettingKey(name) { value, settings throws(Misfit) in
            let example = octal(needed | allowed & 0o660)
            let text = try value.text(example: example, as: "an octal mode as a string")
            guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
                let mode = UInt32(text, radix: 8)
            else {
                throw Misfit("\"\(text)\" is no octal mode", hint: "write it as \"\(example)\"")
            }
            guard mode & needed == needed else {
                throw Misfit("\"\(text)\" takes from the service what it needs", hint: "add \"\(octal(needed))\"")
            }
            guard mode & ~allowed == 0 else {
                throw Misfit("\"\(text)\" grants too much", hint: "at most \"\(octal(allowed))\" is allowed")
            }
            settings[keyPath: target] = mode
        }
    }

    /// A key that stands in the contract but whose feature this version does not have: only the value that leaves the
    /// feature off is taken.
    static func later(_ name: String, off: String, isOff: @escaping (TOMLValue) -> Bool) -> SettingKey {
        SettingKey(name) { value, _ throws(Misfit) in
            guard isOff(value) else {
                throw Misfit("is not in this version", hint: "leave the key out, or write \(off)", at: value.place)
            }
        }
    }
}

/// At least four digits, as chmod(1) shows modes.
func octal(_ mode: UInt32) -> String {
    let digits = String(mode, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
