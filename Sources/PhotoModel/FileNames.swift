/// What a file claims to be by its extension. It decides what travels together; what a file really is, its content
/// decides later.
package enum NameKind: UInt8, Sendable, CaseIterable {
    case heif, jpeg, png, image, raw, video
    case adjustment, sidecar, audio, thumbnail
    /// Made by many programs for many ends: a sidecar beside a photo of its name, and nothing known when alone.
    case looseSidecar
    case other

    /// Whether it can be a shot by itself.
    package var isMedia: Bool { rawValue <= NameKind.video.rawValue }
    package var isStill: Bool { rawValue <= NameKind.raw.rawValue }
    /// Whether it means something only beside a photo or video.
    package var isCompanion: Bool { !isMedia && self != .other }

    /// `extension` is without dot, in lower case.
    package init(extension text: String) {
        self = Self.byExtension[text] ?? .other
    }

    /// Whether an extension of photos or videos begins like that.
    static func startsMedia(_ text: String) -> Bool {
        byExtension.contains { $0.value.isMedia && $0.key.hasPrefix(text) }
    }

    private static let byExtension: [String: NameKind] = {
        let table: [(NameKind, String)] = [
            (.heif, "heic heif hif avif heics heifs"),
            (.jpeg, "jpg jpeg jpe jfif mpo"),
            (.png, "png apng"),
            (.image, "webp tif tiff gif jxl bmp jp2"),
            (
                .raw,
                """
                dng cr2 cr3 crw nef nrw arw srf sr2 raf orf ori rw2 raw rwl pef ptx srw 3fr fff iiq x3f erf mef mos mrw \
                dcr kdc k25 gpr
                """
            ),
            (.video, "mov mp4 m4v avi mts m2ts mkv webm mpg mpeg 3gp 3g2 wmv"),
            (.adjustment, "aae"),
            (.sidecar, "xmp pp3 dop"),
            (.audio, "wav"),
            (.thumbnail, "thm"),
            (.looseSidecar, "json xml srt"),
        ]
        var result: [String: NameKind] = [:]
        for (kind, extensions) in table {
            for one in extensions.split(separator: " ") { result[String(one)] = kind }
        }
        return result
    }()
}

/// A file's name read as a member of a shot: `IMG_1.CR2`, `IMG_1.JPG`, `IMG_1.xmp` and `IMG_1.CR2.xmp` have the stem
/// `IMG_1`. Stems are compared byte by byte, extensions without regard to case.
package struct ShotName: Hashable, Sendable {
    /// The whole name for a file of no known kind, which travels alone.
    package let stem: Path
    package let kind: NameKind
    /// The name of the file it belongs to, when its own name says so: `IMG_1.CR2` for `IMG_1.CR2.xmp`.
    package let target: Path?

    package init(_ name: Path) {
        let kind = NameKind(extension: name.lowercaseExtension)
        switch kind {
        case .other:
            self.init(stem: name, kind: kind, target: nil)
        case .sidecar, .adjustment, .audio, .thumbnail:
            let target = Self.media(name.stem)
            self.init(stem: target?.stem ?? name.stem, kind: kind, target: target)
        case .looseSidecar:
            // What names its photo is no longer loose.
            let target = Self.takeoutTarget(name.stem)
            let stem = target?.stem ?? Self.takeoutStem(name.stem)
            self.init(stem: stem ?? name.stem, kind: stem == nil ? kind : .sidecar, target: target)
        case .heif, .jpeg, .png, .image, .raw, .video:
            self.init(stem: name.stem, kind: kind, target: nil)
        }
    }

    private init(stem: Path, kind: NameKind, target: Path?) {
        self.stem = stem
        self.kind = kind
        self.target = target
    }

    private static func media(_ name: Path) -> Path? {
        NameKind(extension: name.lowercaseExtension).isMedia ? name : nil
    }

    /// Google Takeout names the metadata of `IMG_1.jpg` as `IMG_1.jpg.json`, or as
    /// `IMG_1.jpg.supplemental-metadata.json` cut anywhere to fit 46 characters, and that of `IMG_1(2).jpg` as
    /// `IMG_1.jpg(2).json`. `name` is without `.json`.
    private static func takeoutTarget(_ name: Path) -> Path? {
        if let target = media(name) { return target }
        var rest = withoutNumber(name) ?? name
        let number = name.bytes[rest.bytes.count...]
        let last = rest.lowercaseExtension
        if !last.isEmpty, "supplemental-metadata".hasPrefix(last) {
            rest = rest.stem
        } else if rest.bytes.last == UInt8(ascii: ".") {
            rest = Path(bytes: Array(rest.bytes.dropLast()))  // cut behind the dot
        }
        guard let target = media(rest) else { return nil }
        return Path(bytes: target.stem.bytes + number + target.suffix.bytes)
    }

    /// Takeout's cut may fall into the photo's extension: 46 characters that end in `.j` are of some `.jpg` or `.jpeg`, with
    /// the number of an equal name in front of them or behind. Two letters of an extension or more say it at any length, for
    /// tools cut names as well.
    private static func takeoutStem(_ name: Path) -> Path? {
        let plain = withoutNumber(name) ?? name
        guard let dot = plain.bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return nil }
        let (stem, letters) = (plain.bytes[..<dot], plain.lowercaseExtension)
        guard NameKind.startsMedia(letters), letters.utf8.count > 1 || isCut(plain) || isCut(name) else { return nil }
        return Path(bytes: stem + name.bytes[plain.bytes.count...])
    }

    /// As long as Takeout leaves a name in front of `.json`, by its characters or by its bytes.
    private static func isCut(_ name: Path) -> Bool {
        name.bytes.count == 46 || String(decoding: name.bytes, as: UTF8.self).utf16.count == 46
    }

    /// `IMG_1` for `IMG_1(2)`; nil for a name that does not end in a number like that.
    package static func withoutNumber(_ name: Path) -> Path? {
        let bytes = name.bytes
        guard bytes.last == UInt8(ascii: ")"), let open = bytes.lastIndex(of: UInt8(ascii: "(")),
            open + 2 < bytes.count, bytes[(open + 1)..<(bytes.count - 1)].allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Path(bytes: Array(bytes[..<open]))
    }
}
