import HTTP
import PhotoModel

/// The `?…` of a request, checked: a name that is misspelt is refused rather than passed over.
struct Query {
    private var values: [String: String] = [:]

    init(_ request: Request, allowing names: [String]) throws(Problem) {
        guard let pairs = request.query else { throw .bad("The query is not percent-encoded UTF-8.") }
        for (name, value) in pairs {
            guard names.contains(name) else {
                throw .bad(
                    "There is no parameter `\(SafeText.of(name, limit: 64))` here.",
                    todo: names.isEmpty ? "Leave it out." : "Use " + names.joined(separator: ", ") + ".")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw .bad("The parameter `\(name)` is given twice.")
            }
        }
    }

    subscript(name: String) -> String? { values[name] }

    /// How much of a list is asked for.
    func limit() throws(Problem) -> Int {
        guard let text = values["limit"] else { return 50 }
        guard let limit = Int(text), (1...200).contains(limit) else {
            throw .bad("`limit` is not a number from 1 to 200.")
        }
        return limit
    }

    func number(_ name: String) throws(Problem) -> Int64? {
        guard let text = values[name] else { return nil }
        guard let number = Int64(text), number >= 0 else { throw .bad("`\(name)` is not a number.") }
        return number
    }

    /// A moment as a camera's clock shows it; a bare date is its first instant, or with `wholeDay` the one after its last.
    func wallTime(_ name: String, wholeDay: Bool = false) throws(Problem) -> WallTime? {
        guard let text = values[name] else { return nil }
        guard let (time, isDate) = Self.wallTime(text) else {
            throw .bad(
                "`\(name)` is not a date or local time.", todo: "Write it as 2026-05-17 or 2026-05-17T09:04:31.")
        }
        return isDate && wholeDay ? WallTime(secondsSince1970: time.secondsAsUTC + 86_400) : time
    }

    private static func wallTime(_ text: String) -> (WallTime, isDate: Bool)? {
        let halves = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        guard let date = numbers(halves[0], separator: "-", widths: [4, 2, 2]) else { return nil }
        var time = WallTime(year: date[0], month: date[1], day: date[2])
        if halves.count == 2 {
            guard let clock = numbers(halves[1], separator: ":", widths: [2, 2, 2]) else { return nil }
            (time.hour, time.minute, time.second) = (clock[0], clock[1], clock[2])
        }
        return time.isValid ? (time, halves.count == 1) : nil
    }

    private static func numbers(_ text: Substring, separator: Character, widths: [Int]) -> [Int]? {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        guard parts.count == widths.count else { return nil }
        var numbers: [Int] = []
        for (part, width) in zip(parts, widths) {
            guard part.utf8.count == width, part.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(part)
            else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}

extension Problem {
    static func bad(_ whatHappened: String, todo: String? = nil) -> Problem {
        Problem(.badRequest, whatHappened, todo: todo ?? "Correct the request; docs/api.md describes the calls.")
    }

    static func missing(_ whatHappened: String) -> Problem { Problem(.notFound, whatHappened) }
}
