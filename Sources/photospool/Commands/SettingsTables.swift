internal import PhotoModel

/// The settings as the tables of the configuration file, for showing: what it prints is itself a valid file.
struct SettingsTables: Encodable {
    enum Value: Encodable {
        case text(String)
        case number(Int)
        case flag(Bool)
        case list([String])
        /// Of JSON; TOML writes them apart.
        case tables([[String: Value]])

        var toml: String {
            switch self {
            case .text(let text): Self.quoted(text)
            case .number(let number): String(number)
            case .flag(let flag): flag ? "true" : "false"
            case .list(let list): "[" + list.map(Self.quoted).joined(separator: ", ") + "]"
            case .tables: "[]"
            }
        }

        /// A basic string of TOML 1.0.
        private static func quoted(_ text: String) -> String {
            var result = "\""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"", "\\": result += "\\" + String(scalar)
                case "\n": result += "\\n"
                case "\t": result += "\\t"
                default:
                    if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
                        let hex = String(scalar.value, radix: 16)
                        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
                    } else {
                        result.unicodeScalars.append(scalar)
                    }
                }
            }
            return result + "\""
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            case .flag(let flag): try container.encode(flag)
            case .list(let list): try container.encode(list)
            case .tables(let tables): try container.encode(tables)
            }
        }
    }

    typealias Table = [(key: String, value: Value)]

    private let single: [(name: String, table: Table)]
    private let drops: [Table]
    private let renditions: [Table]

    init(_ settings: Settings) {
        let library = settings.library
        let importing = settings.importing
        let control = settings.control
        single = [
            (
                "library",
                [
                    ("path", .text(library.path.shown)), ("mirror", .text(library.mirror.shown)),
                    ("template", .text(library.template)),
                    ("reserve_free", .text(Self.size(library.reserveFree))), ("file_mode", Self.mode(library.fileMode)),
                    ("group", .text(library.group)),
                ]
            ),
            (
                "import",
                [
                    ("workers", .number(importing.workers)), ("verify", .text(importing.verify.rawValue)),
                    ("on_preview_failure", .text(importing.onPreviewFailure.rawValue)),
                    ("max_attempts", .number(importing.maxAttempts)), ("time_zone", .text(importing.timeZone)),
                    ("sweep_after", .text(Self.duration(importing.sweepAfter))),
                    ("memory_budget", .text(importing.memoryBudget.map(Self.size) ?? "")),
                    ("deadline", .text(Self.duration(importing.deadline))),
                ]
            ),
            (
                "preview",
                [
                    ("max_size", .number(settings.preview.maxSize)), ("quality", .number(settings.preview.quality)),
                    ("color", .text(settings.preview.colour.rawValue)),
                    ("max_pixels", .text(Self.pixels(settings.preview.maxPixels))),
                    ("cache_size", .text(Self.size(settings.preview.cacheSize))),
                ]
            ),
            (
                "control",
                [
                    ("socket", .text(control.socket.shown)), ("mode", Self.mode(control.mode)),
                    ("group", .text(control.group)), ("import_roots", .list(control.importRoots.map(\.shown))),
                ]
            ),
            ("log", [("level", .text(settings.logLevel.rawValue))]),
        ]
        drops = settings.drops.map(Self.drop)
        renditions = settings.preview.renditions.map {
            [("name", .text($0.name)), ("max_size", .number($0.maxSize)), ("crop", .text($0.crop.rawValue))]
        }
    }

    private static func drop(_ drop: DropFolder) -> Table {
        [
            ("name", .text(drop.name)), ("path", .text(drop.path.shown)), ("template", .text(drop.template)),
            ("max_file_size", .text(size(drop.maxFileSize))), ("watch", .text(drop.watch.rawValue)),
            ("settle", .text(duration(drop.settle))), ("poll_interval", .text(duration(drop.pollInterval))),
            ("rescan_interval", .text(duration(drop.rescanInterval))),
            ("after_import", .text(drop.afterImport.rawValue)), ("move_to", .text(drop.moveTo.shown)),
            ("ignore", .list(drop.ignore)), ("recursive", .flag(drop.isRecursive)),
            ("kinds", .list(drop.kinds.map(\.rawValue).sorted())), ("collection", .text(drop.collection)),
            ("group_wait", .text(duration(drop.groupWait))),
        ]
    }

    var toml: [String] {
        var lines: [String] = []
        func add(_ heading: String, _ table: Table) {
            if !lines.isEmpty { lines.append("") }
            lines.append(heading)
            lines += table.map { "\($0.key) = \($0.value.toml)" }
        }
        for (name, table) in single {
            add("[\(name)]", table)
            if name == "library" { for drop in drops { add("[[drop]]", drop) } }
            if name == "preview" { for rendition in renditions { add("[[preview.rendition]]", rendition) } }
        }
        return lines
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (name, table) in single {
            var object = Self.object(table)
            if name == "preview" { object["rendition"] = .tables(renditions.map(Self.object)) }
            try container.encode(object, forKey: Key(stringValue: name))
        }
        try container.encode(drops.map(Self.object), forKey: Key(stringValue: "drop"))
    }

    private static func object(_ table: Table) -> [String: Value] {
        Dictionary(table.map { ($0.key, $0.value) }) { first, _ in first }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// In the largest unit that leaves nothing over.
    private static func size(_ size: ByteCount) -> String {
        let units: [(Int64, String)] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        guard size.bytes > 0, let (unit, name) = units.first(where: { size.bytes % $0.0 == 0 }) else {
            return "\(size.bytes)B"
        }
        return "\(size.bytes / unit)\(name)"
    }

    private static func duration(_ duration: Duration) -> String {
        let milliseconds = Int64(duration / .milliseconds(1))
        let units: [(Int64, String)] = [(3_600_000, "h"), (60_000, "min"), (1000, "s")]
        guard milliseconds > 0, let (unit, name) = units.first(where: { milliseconds % $0.0 == 0 }) else {
            return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
        }
        return "\(milliseconds / unit)\(name)"
    }

    private static func pixels(_ pixels: Pixels) -> String {
        pixels.count % 1_000_000 == 0 ? "\(pixels.count / 1_000_000)MP" : "\(pixels.count)px"
    }

    private static func mode(_ mode: UInt32) -> Value {
        let octal = String(mode, radix: 8)
        return .text(String(repeating: "0", count: max(0, 4 - octal.count)) + octal)
    }
}
