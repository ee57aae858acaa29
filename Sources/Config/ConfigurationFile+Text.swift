package import PhotoModel

extension ConfigurationFile {
    /// The settings in force as one file: every key with its value, also where that is the default. Loading it gives the
    /// same settings again.
    package static func text(of settings: Settings) -> String {
        var tables = [table("[library]", library(settings.library))]
        tables += settings.drops.map { table("[[drop]]", drop($0)) }
        tables.append(table("[import]", importing(settings.importing)))
        tables.append(table("[preview]", preview(settings.preview)))
        tables += settings.preview.renditions.map { rendition in
            table(
                "[[preview.rendition]]",
                [
                    ("name", quoted(rendition.name)), ("max_size", String(rendition.maxSize)),
                    ("crop", quoted(rendition.crop.rawValue)),
                ])
        }
        tables.append(table("[control]", control(settings.control)))
        tables.append(table("[log]", [("level", quoted(settings.logLevel.rawValue))]))
        return tables.joined(separator: "\n")
    }

    private typealias Line = (key: String, value: String)

    private static func library(_ library: LibrarySettings) -> [Line] {
        [
            ("path", quoted(library.path)), ("mirror", quoted(library.mirror)),
            ("template", quoted(library.template)),
            ("reserve_free", quoted(Units.shown(library.reserveFree))), ("file_mode", quoted(octal(library.fileMode))),
            ("group", quoted(library.group)),
        ]
    }

    private static func drop(_ drop: DropFolder) -> [Line] {
        [
            ("name", quoted(drop.name)), ("path", quoted(drop.path)), ("template", quoted(drop.template)),
            ("max_file_size", quoted(Units.shown(drop.maxFileSize))), ("watch", quoted(drop.watch.rawValue)),
            ("settle", quoted(Units.shown(drop.settle))), ("poll_interval", quoted(Units.shown(drop.pollInterval))),
            ("rescan_interval", quoted(Units.shown(drop.rescanInterval))),
            ("after_import", quoted(drop.afterImport.rawValue)), ("move_to", quoted(drop.moveTo)),
            ("ignore", list(drop.ignore)), ("recursive", drop.isRecursive ? "true" : "false"),
            ("kinds", list(AssetKind.allCases.filter(drop.kinds.contains).map(\.rawValue))),
            ("collection", quoted(drop.collection)), ("group_wait", quoted(Units.shown(drop.groupWait))),
        ]
    }

    private static func importing(_ settings: ImportSettings) -> [Line] {
        [
            ("workers", String(settings.workers)), ("verify", quoted(settings.verify.rawValue)),
            ("on_preview_failure", quoted(settings.onPreviewFailure.rawValue)),
            ("max_attempts", String(settings.maxAttempts)), ("time_zone", quoted(settings.timeZone)),
            ("sweep_after", quoted(Units.shown(settings.sweepAfter))),
            ("memory_budget", quoted(settings.memoryBudget.map(Units.shown) ?? "")),
            ("deadline", quoted(Units.shown(settings.deadline))),
        ]
    }

    private static func preview(_ settings: PreviewSettings) -> [Line] {
        [
            ("max_size", String(settings.maxSize)), ("quality", String(settings.quality)),
            ("color", quoted(settings.colour.rawValue)), ("max_pixels", quoted(Units.shown(settings.maxPixels))),
            ("cache_size", quoted(Units.shown(settings.cacheSize))),
        ]
    }

    private static func control(_ settings: ControlSettings) -> [Line] {
        [
            ("socket", quoted(settings.socket)), ("mode", quoted(octal(settings.mode))),
            ("group", quoted(settings.group)), ("import_roots", list(settings.importRoots.map(\.shown))),
        ]
    }

    private static func table(_ header: String, _ lines: [Line]) -> String {
        header + "\n" + lines.map { "\($0.key) = \($0.value)\n" }.joined()
    }

    private static func list(_ values: [String]) -> String { "[" + values.map(quoted).joined(separator: ", ") + "]" }

    private static func quoted(_ path: Path) -> String { quoted(path.shown) }

    /// A basic string of TOML. Control characters are not in any checked value.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(character)
        }
        return result + "\""
    }
}
