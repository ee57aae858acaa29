import Files
import FoundationEssentials
package import PhotoModel
import Synchronization

/// The library's own account of what happened to it: `.photospool/journal/YYYY-MM.jsonl`, one JSON object a line, each
/// on the medium before the act it announces. With it the catalog can be rebuilt from the library alone.
///
/// A line that was cut off by a power failure is the last one of its file and does not end in a newline; readers skip it.
package struct LibraryJournal: Sendable {
    let library: Library

    /// - Throws: a library `Problem`; nothing may then be done that the line would have announced.
    package func append(_ line: JournalLine, at now: Timestamp) throws(Problem) {
        let name = LibraryLayout.journal / (String(now.rfc3339.prefix(7)) + ".jsonl")
        let bytes: [UInt8]
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // A photo that says NaN of its latitude must not stop the journal, and with it everything.
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            bytes = Array(try encoder.encode(line)) + [UInt8(ascii: "\n")]
        } catch {
            throw Problem(.stateIO, "Could not write a journal line as JSON: \(error).")
        }
        try library.journalTurn.withLock { _ throws(Problem) in
            try onLibrary(name, doing: "append to") { () throws(Errno) in
                try library.root.appendDurably(bytes, to: name, mode: 0o640)
            }
        }
    }

    private struct Numbered: Decodable { var id: Int64 }

    /// Enough for the last lines: an intent names a few dozen files at most.
    private static let tail = 1 << 20

    /// The highest id of a whole line; 0 when there is none. Higher than any id the state reserved, it shows that the
    /// state is older than the library: restored from a backup, say.
    ///
    /// Every month is asked: a clock that was once ahead has left its file behind those that are written now.
    func lastID() throws(Problem) -> Int64 {
        var names: [Path] = []
        try onLibrary(LibraryLayout.journal, doing: "list") { () throws(Errno) in
            try library.root.folder(at: LibraryLayout.journal).forEachEntry { name, _ throws(Errno) in
                if name.lowercaseExtension == "jsonl" { names.append(name) }
                return true
            }
        }
        var last: Int64 = 0
        for name in names {
            let path = LibraryLayout.journal / name
            let bytes = try onLibrary(path, doing: "read") { () throws(Errno) in
                try library.root.openForReading(path).readTail(limit: Self.tail)
            }
            last = max(last, Self.lastID(in: bytes))
        }
        return last
    }

    /// Two imports may have written their lines in the other order than they had reserved their ids; hence a few more
    /// than the last one.
    private static func lastID(in bytes: [UInt8]) -> Int64 {
        var last: Int64 = 0
        var whole = 0
        let decoder = JSONDecoder()
        for line in bytes.split(separator: UInt8(ascii: "\n")).reversed() {
            guard let found = try? decoder.decode(Numbered.self, from: Data(line))  // torn: no line, those before count
            else { continue }
            last = max(last, found.id)
            whole += 1
            if whole == 16 { break }
        }
        return last
    }
}
