/// Which names in a drop folder are passed over, without a watch and without a word.
///
/// The list below always stands; a drop's `ignore` globs are asked after it, in their order, and the last one that
/// matches decides, so that `!glob` takes back. What lies in an ignored folder is never seen, so its folder has to be
/// taken back too. The daemon's own `.photospool` and the drop's `move_to` folder cannot be taken back.
package struct IgnoreRules: Sendable {
    /// Where the daemon keeps its own things, in a library and in a drop folder.
    package static let ownFolder = Path(".photospool")

    private let globs: [(glob: Glob, takesBack: Bool)]
    private let moveTo: Path?

    /// - Parameters:
    ///   - globs: As configured. One that is no pattern is left out; the configuration check refuses it before.
    ///   - moveTo: The `move_to` folder below the drop folder, when it lies there.
    package init(_ globs: [String] = [], moveTo: Path? = nil) {
        self.globs = globs.compactMap { text in
            let takesBack = text.hasPrefix("!")
            return Glob(takesBack ? String(text.dropFirst()) : text).map { ($0, takesBack) }
        }
        self.moveTo = moveTo
    }

    package init(for drop: DropFolder) {
        self.init(drop.ignore, moveTo: drop.moveTo.isEmpty ? Path(".imported") : drop.moveTo.below(drop.path))
    }

    /// Why a name is passed over.
    package enum Rule: Hashable, Sendable {
        /// The daemon's own folder.
        case own
        /// Where sources are moved to.
        case moveTo
        /// The list that always stands.
        case builtIn
        /// A pattern of the drop's `ignore`, as written.
        case pattern(String)
    }

    /// `folder` is the path of the file's folder below the drop folder, empty at the top.
    package func ignores(_ name: Path, in folder: Path, isFolder: Bool) -> Bool {
        rule(for: name, in: folder, isFolder: isFolder) != nil
    }

    /// The rule by which a name is passed over; nil when it is not.
    package func rule(for name: Path, in folder: Path, isFolder: Bool) -> Rule? {
        if name == Self.ownFolder { return .own }
        if let moveTo, isFolder, moveTo.name == name, moveTo == folder / name { return .moveTo }
        var rule: Rule? = Self.isIgnoredByDefault(name) ? .builtIn : nil
        guard !globs.isEmpty else { return rule }
        let path = folder / name
        for (glob, takesBack) in globs where takesBack == (rule != nil) {
            if glob.matches(name: name, path: path, isFolder: isFolder) {
                rule = takesBack ? nil : .pattern(glob.text)
            }
        }
        return rule
    }

    /// Hidden files and folders, what operating systems and storage boxes leave behind, and what is still being
    /// transferred. Asked for every name of every scan: no patterns here.
    package static func isIgnoredByDefault(_ name: Path) -> Bool {
        let bytes = name.bytes
        // Hidden covers ._*, .DS_Store, .Trashes, .syncthing.*, .goutputstream-*, rsync's .NAME.XXXXXX and the like.
        guard let first = bytes.first, first != UInt8(ascii: ".") else { return true }
        if bytes.last == UInt8(ascii: "~") { return true }
        switch first {
        case UInt8(ascii: "~"):
            if hasPrefix(bytes, "~syncthing~") { return true }
        case UInt8(ascii: "S"), UInt8(ascii: "s"), UInt8(ascii: "$"), UInt8(ascii: "T"), UInt8(ascii: "t"),
            UInt8(ascii: "d"), UInt8(ascii: "D"), UInt8(ascii: "@"), UInt8(ascii: "#"), UInt8(ascii: "l"),
            UInt8(ascii: "L"):
            if names.contains(folded(bytes)) { return true }
        default: break
        }
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return false }
        let ending = bytes[(dot + 1)...]
        return (3...10).contains(ending.count) && startsLikeEnding(ending) && endings.contains(folded(ending))
    }

    /// `p`, `f`, `c`, `d` or `t`: spares nearly every photo the rest.
    private static func startsLikeEnding(_ bytes: ArraySlice<UInt8>) -> Bool {
        switch (bytes.first ?? 0) | 0x20 {
        case UInt8(ascii: "p"), UInt8(ascii: "f"), UInt8(ascii: "c"), UInt8(ascii: "d"), UInt8(ascii: "t"): true
        default: false
        }
    }

    private static let names: Set<String> = [
        "system volume information", "$recycle.bin", "thumbs.db", "desktop.ini", "@eadir", "#recycle", "#snapshot",
        "lost+found",
    ]
    private static let endings: Set<String> = ["part", "partial", "filepart", "crdownload", "download", "tmp", "temp"]

    private static func folded(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    private static func hasPrefix(_ bytes: [UInt8], _ prefix: StaticString) -> Bool {
        bytes.starts(with: prefix.description.utf8)
    }
}
