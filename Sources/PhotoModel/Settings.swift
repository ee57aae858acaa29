/// The checked values of the configuration that the rooms work by. Units are types, defaults are DESIGN's.
package struct LibrarySettings: Hashable, Sendable {
    package var path = Path("/srv/photos")
    /// A second place for every original; empty for none.
    package var mirror = Path(bytes: [])
    package var template = "{year}/{year}-{month}-{day}/{stem}{ext}"
    package var reserveFree = ByteCount.gibi(1)
    /// Permission bits of originals and previews; directories get the same with x, and setgid.
    package var fileMode: UInt32 = 0o640
    /// Group name of what is made in the library; empty for the daemon's own.
    package var group = ""
    package init() {}
}

package struct DropFolder: Hashable, Sendable {
    package enum Watching: String, Sendable, CaseIterable { case auto, inotify, poll }

    package var name: String
    package var path: Path
    /// Empty for the library's.
    package var template = ""
    package var maxFileSize = ByteCount.gibi(64)
    package var watch = Watching.auto
    package var settle = Duration.seconds(2)
    package var pollInterval = Duration.seconds(10)
    package var rescanInterval = Duration.seconds(300)
    package var afterImport = Disposition.keep
    /// Absolute; empty for `<drop>/.imported`.
    package var moveTo = Path(bytes: [])
    package var ignore: [String] = []
    package var isRecursive = true
    /// Empty for all.
    package var kinds: Set<AssetKind> = []
    /// Empty for the drop's name.
    package var collection = ""
    package var groupWait = Duration.seconds(5)

    package init(name: String, path: Path) {
        self.name = name
        self.path = path
    }
}

package struct ImportSettings: Hashable, Sendable {
    package enum Verify: String, Sendable, CaseIterable { case readback, copy }
    package enum OnPreviewFailure: String, Sendable, CaseIterable { case rollback, keep, strict }

    /// 0 for the number of cores.
    package var workers = 0
    package var verify = Verify.readback
    package var onPreviewFailure = OnPreviewFailure.rollback
    package var maxAttempts = 8
    /// IANA name for videos that carry only UTC; empty for the system's.
    package var timeZone = ""
    package var sweepAfter = Duration.seconds(24 * 3600)
    /// nil for 25 % of memory or of the cgroup's limit.
    package var memoryBudget: ByteCount?
    package var deadline = Duration.seconds(30)
    package init() {}
}

package struct PreviewSettings: Hashable, Sendable {
    package enum Colour: String, Sendable, CaseIterable { case srgb, keep }

    /// Longest side in pixels.
    package var maxSize = 1200
    /// JPEG quality, 1...100.
    package var quality = 82
    package var colour = Colour.srgb
    package var maxPixels = Pixels.mega(400)
    /// What pictures made on request may take on disk.
    package var cacheSize = ByteCount.mebi(256)
    /// Further sizes, each name once.
    package var renditions: [RenditionSpec] = []
    package init() {}
}

package struct ControlSettings: Hashable, Sendable {
    package var socket = Path("/run/photospool/control.sock")
    package var mode: UInt32 = 0o660
    /// Group name; empty for the daemon's own.
    package var group = ""
    package var importRoots: [Path] = []
    package init() {}
}

package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case error, warning, info, debug
    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.severity < right.severity }
    /// syslog(3) priority: 3, 4, 6, 7.
    package var severity: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}

/// Everything the daemon was told, checked.
package struct Settings: Hashable, Sendable {
    package var library = LibrarySettings()
    package var drops: [DropFolder] = []
    package var importing = ImportSettings()
    package var preview = PreviewSettings()
    package var control = ControlSettings()
    package var logLevel = LogLevel.info
    package init() {}
}
