package import Files
package import PhotoModel

/// How Control sees the daemon, without knowing its rooms. Every closure may be called from any thread that may wait.
package struct DaemonView: Sendable {
    package struct Library: Sendable {
        package var path: Path
        /// nil while the library is not there.
        package var freeBytes: Int64?
        package init(path: Path, freeBytes: Int64?) {
            self.path = path
            self.freeBytes = freeBytes
        }
    }

    package struct Mirror: Sendable {
        package var path: Path
        /// nil while the mirror is not there.
        package var freeBytes: Int64?
        /// Files that are not on it yet, or not gone from it.
        package var behind: Int64
        /// What keeps it behind. None of it keeps anything from being imported.
        package var reasons: [Problem]
        /// Whether it is there and has something to do.
        package var isAtWork: Bool
        package init(path: Path, freeBytes: Int64?, behind: Int64, reasons: [Problem], isAtWork: Bool) {
            self.path = path
            self.freeBytes = freeBytes
            self.behind = behind
            self.reasons = reasons
            self.isAtWork = isAtWork
        }
    }

    package var version: String
    package var state: @Sendable () -> DaemonState
    /// Everything that restricts the work.
    package var reasons: @Sendable () -> [Problem]
    package var uptime: @Sendable () -> Duration
    package var inFlight: @Sendable () -> [InFlightImport]
    package var drops: @Sendable () -> [DropHealth]
    package var library: @Sendable () -> Library
    /// nil where none is configured.
    package var mirror: @Sendable () -> Mirror?
    /// What got done per second lately.
    package var rates: @Sendable () -> (files: Double, bytes: Double)
    /// Holds the library's folder; nothing outside of it is ever served.
    package var openLibrary: @Sendable () throws(Problem) -> Folder

    /// A JPEG of the asset with a longer side of so many pixels.
    package var picture: @Sendable (Asset, _ side: Int) throws(Problem) -> Picture

    /// The asset as a file of another format, its longer side at most so many pixels.
    package var export: @Sendable (Asset, _ side: Int?, ExportSpec) throws(Problem) -> Picture

    package struct Picture: Sendable {
        package var file: OpenFile
        /// Bytes.
        package var size: Int64
        /// Of the content: a strong validator.
        package var tag: String
        /// Of an export: whether a part of it was missing or damaged in the original.
        package var isPartial: Bool
        package init(file: OpenFile, size: Int64, tag: String, isPartial: Bool = false) {
            self.isPartial = isPartial
            self.file = file
            self.size = size
            self.tag = tag
        }
    }

    package init(
        version: String, state: @escaping @Sendable () -> DaemonState, reasons: @escaping @Sendable () -> [Problem],
        uptime: @escaping @Sendable () -> Duration, inFlight: @escaping @Sendable () -> [InFlightImport],
        drops: @escaping @Sendable () -> [DropHealth], library: @escaping @Sendable () -> Library,
        mirror: @escaping @Sendable () -> Mirror? = { nil },
        rates: @escaping @Sendable () -> (files: Double, bytes: Double),
        openLibrary: @escaping @Sendable () throws(Problem) -> Folder,
        picture: @escaping @Sendable (Asset, Int) throws(Problem) -> Picture = { _, _ throws(Problem) in
            throw Problem(.decoderMissing, "Nothing makes pictures here.")
        },
        export: @escaping @Sendable (Asset, Int?, ExportSpec) throws(Problem) -> Picture = {
            _, _, _ throws(Problem) in throw Problem(.decoderMissing, "Nothing makes pictures here.")
        }
    ) {
        self.version = version
        self.state = state
        self.reasons = reasons
        self.uptime = uptime
        self.inFlight = inFlight
        self.drops = drops
        self.library = library
        self.mirror = mirror
        self.rates = rates
        self.openLibrary = openLibrary
        self.picture = picture
        self.export = export
    }
}
