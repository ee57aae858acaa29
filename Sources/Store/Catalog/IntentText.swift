import FoundationEssentials
import PhotoModel

/// A commit intent as it stands in its job's row: JSON, so that an admin can read it with `sqlite3`.
enum IntentText {
    static func encode(_ intent: CommitIntent) throws(Problem) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A camera that writes NaN as its latitude must not fail the import.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do { return String(decoding: try encoder.encode(intent), as: UTF8.self) } catch {
            throw Problem(.stateIO, "The commit intent could not be written as JSON: \(error).", todo: "Report this.")
        }
    }

    static func decode(_ text: String) throws(Problem) -> CommitIntent {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        do { return try decoder.decode(CommitIntent.self, from: Data(text.utf8)) } catch {
            throw Problem(
                .stateIO, "A commit intent in the state database cannot be read: \(error).",
                todo: "Keep spool.db and report this; staging is left as it is.")
        }
    }
}
