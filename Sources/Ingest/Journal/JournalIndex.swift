import Files
import FoundationEssentials
package import PhotoModel

/// Which lines of the library's journal say what the library holds, and where they stand. Some 60 bytes a commit are kept,
/// not the lines: a journal of a million photos has gigabytes.
///
/// An import may have announced itself more than once, each time under another name, and may then have been rolled back:
/// of its lines only the last can count. A path may have been announced by several imports; the last of them whose files
/// are there has it.
package struct JournalIndex: Sendable {
    /// One commit, by its last line.
    package struct Entry: Sendable {
        package let id: Int64
        let file: Int
        let offset: Int64
        let count: Int
        fileprivate let importHash: Int
        fileprivate let assetHash: Int
        fileprivate let pathHashes: [Int]
    }

    /// In the order of their ids.
    package private(set) var entries: [Entry] = []
    /// What became of assets afterwards.
    package private(set) var afterlife = Afterlife()
    /// The highest id of any line.
    package private(set) var lastID: Int64 = 0
    /// Whole lines that could not be read, or of which a part could not.
    package private(set) var unreadable: [(file: Path, offset: Int64)] = []
    /// Entries that announced a path of this one later.
    private var later: [Int: [Int]] = [:]
    private var contested: Set<Int> = []
    private var disposals: Set<Int> = []
    private let claims: Set<Int64>
    private var claimed: [Int64: Path] = [:]
    let files: [Path]

    /// Reads the whole journal once.
    /// - Parameter claims: ids of lines whose sources are asked for.
    /// - Returns: nil when `isGoingOn` said no.
    package init?(of library: Library, claims: Set<Int64> = [], isGoingOn: () -> Bool) throws(Problem) {
        self.claims = claims
        var names: [Path] = []
        try onLibrary(LibraryLayout.journal, doing: "list") { () throws(Errno) in
            try library.root.folder(at: LibraryLayout.journal).forEachEntry { name, _ throws(Errno) in
                if name.lowercaseExtension == "jsonl" { names.append(name) }
                return true
            }
        }
        files = names.sorted().map { LibraryLayout.journal / $0 }
        for number in files.indices {
            guard try read(number, of: library, isGoingOn) else { return nil }
        }
        settle()
        afterlife.settle()
    }

    private mutating func read(_ number: Int, of library: Library, _ isGoingOn: () -> Bool) throws(Problem) -> Bool {
        let path = files[number]
        let file = try onLibrary(path, doing: "read") { () throws(Errno) in try library.root.openForReading(path) }
        let decoder = JSONDecoder()
        var wasEnded = false
        let translate: (Errno) -> Problem = { .library(path, $0, doing: "read") }
        try file.forEachLine(translate: translate) { (line, offset) throws(Problem) in
            wasEnded = !isGoingOn()
            if wasEnded { return false }
            add(line, at: offset, in: number, decoder)
            return true
        }
        return !wasEnded
    }

    private mutating func add(_ line: ArraySlice<UInt8>, at offset: Int64, in file: Int, _ decoder: JSONDecoder) {
        guard let brief = try? decoder.decode(Brief.self, from: Data(line)) else {  // told as unreadable
            unreadable.append((files[file], offset))
            // Where a power failure left zeros, the newline before the next line is gone, too: that one is whole.
            if let zero = line.lastIndex(of: 0), zero + 1 < line.endIndex,
                let brief = try? decoder.decode(Brief.self, from: Data(line[(zero + 1)...]))  // the line is told anyhow
            {
                add(brief, at: offset + Int64(zero + 1 - line.startIndex), count: line.endIndex - zero - 1, in: file)
            }
            return
        }
        add(brief, at: offset, count: line.count, in: file)
    }

    private mutating func add(_ brief: Brief, at offset: Int64, count: Int, in file: Int) {
        lastID = max(lastID, brief.id)
        if let intent = brief.intent, Self.commits.contains(brief.what) {
            entries.append(
                Entry(
                    id: brief.id, file: file, offset: offset, count: count,
                    importHash: intent.importID.hashValue, assetHash: intent.asset.id.hashValue,
                    pathHashes: intent.brought.map(\.hashValue)))
        } else if let kind = Act.Kind(rawValue: brief.what), let asset = brief.asset?.id ?? brief.assetID {
            afterlife.add(
                Act(id: brief.id, kind: kind, file: file, offset: offset, count: count, assetHash: asset.hashValue),
                digests: brief.asset?.resources.map(\.sha256.hashValue) ?? [])
        } else if let path = brief.path, let stamp = brief.stamp, let state = Self.disposals[brief.what] {
            disposals.insert(Self.hash(state, path, stamp))
            if claims.contains(brief.id) { claimed[brief.id] = path }
        }
    }

    private static let commits: Set<String> = ["commit", "adopt"]
    private static let disposals: [String: DispositionState] = ["move": .moved, "delete": .deleted]

    private static func hash(_ state: DispositionState, _ path: Path, _ stamp: FileStamp) -> Int {
        var hasher = Hasher()
        hasher.combine(state)
        hasher.combine(path)
        hasher.combine(stamp.size)
        hasher.combine(stamp.mtime)
        return hasher.finalize()
    }

    private mutating func settle() {
        entries.sort { ($0.id, $0.file, $0.offset) < ($1.id, $1.file, $1.offset) }
        var last: [Int: Int] = [:]
        for (position, entry) in entries.enumerated() { last[entry.importHash] = position }
        entries = entries.enumerated().filter { last[$0.element.importHash] == $0.offset }.map(\.element)
        var owner: [Int: Int] = [:]
        for (position, entry) in entries.enumerated() {
            for path in entry.pathHashes {
                if let before = owner.updateValue(position, forKey: path), before != position {
                    later[before, default: []].append(position)
                    contested.insert(before)
                    contested.insert(position)
                }
            }
        }
    }

    // MARK: Asking

    /// The whole line of an entry.
    /// - Returns: nil when it cannot be understood.
    package func line(_ entry: Entry, of library: Library) throws(Problem) -> JournalLine? {
        try line(in: entry.file, at: entry.offset, count: entry.count, of: library)
    }

    package func line(_ act: Act, of library: Library) throws(Problem) -> JournalLine? {
        try line(in: act.file, at: act.offset, count: act.count, of: library)
    }

    private func line(
        in file: Int, at offset: Int64, count: Int, of library: Library
    ) throws(Problem) -> JournalLine? {
        let path = files[file]
        let bytes = try onLibrary(path, doing: "read") { () throws(Errno) in
            try library.root.openForReading(path).readBytes(count: count, at: offset)
        }
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return try? decoder.decode(JournalLine.self, from: Data(bytes))  // nil is what the caller reports
    }

    /// Whether its asset was taken out again: then its files lie in the trash, and nothing of it is missing.
    package func wasTakenOut(_ position: Int) -> Bool { afterlife.removed[entries[position].assetHash] != nil }

    /// Whether another import announced one of its paths, too: then only its bytes tell whose file it is.
    package func isContested(_ position: Int) -> Bool { contested.contains(position) }

    /// The entries that announced a path of this one later, however far on.
    package func later(than position: Int) -> [Int] {
        var found: Set<Int> = []
        var rest = later[position] ?? []
        while let next = rest.popLast() {
            if found.insert(next).inserted { rest += later[next] ?? [] }
        }
        return found.sorted(by: >)
    }

    /// What was begun with this version of a source, `moved` or `deleted`; nil when nothing was.
    package func disposal(of path: Path, _ stamp: FileStamp) -> DispositionState? {
        [.moved, .deleted].first { disposals.contains(Self.hash($0, path, stamp)) }
    }

    /// The source that a line disposes of, of those that were asked for.
    package func claimed(_ id: Int64) -> Path? { claimed[id] }

    /// As much of a line as the index needs.
    private struct Brief: Decodable {
        var id: Int64
        var what: String
        var path: Path?
        var stamp: FileStamp?
        var intent: Intent?
        var asset: Asset?
        var assetID: String?

        struct Asset: Decodable {
            var id: String
            var resources: [Resource]
            struct Resource: Decodable { var sha256: SHA256Digest }
        }

        struct Intent: Decodable {
            var importID: String
            var asset: Asset
            struct Asset: Decodable {
                var id: String
                var resources: [Resource]
            }
            struct Resource: Decodable { var path: Path }
            var joinsExisting: Bool
            var moves: [Move]
            struct Move: Decodable { var final: Path }

            /// What the commit brings: a join names the whole asset, but moves its own files only. An adoption moves none.
            var brought: [Path] {
                let all = asset.resources.map(\.path)
                let finals = Set(moves.map(\.final))
                let moved = all.filter { finals.contains($0) }
                return joinsExisting && !moved.isEmpty ? moved : all
            }
        }
    }
}
