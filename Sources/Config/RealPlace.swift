internal import Files
internal import Glibc
internal import PhotoModel

/// Where a path really leads, whatever links and mounts lie on the way. What does not exist yet counts as lying where
/// it would be made.
struct RealPlace {
    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    /// Without symbolic links.
    let path: Path
    /// Of the path itself and every folder above it, nearest first; of what exists.
    let chain: [Identity]
    /// Whether the path itself exists, and ``chain`` starts with it.
    let exists: Bool
    /// Whether it lies on a share that was not asked.
    let isUntouched: Bool
    /// The filesystem and the path inside it, the same for all bind mounts; nil without /proc.
    let inside: (filesystem: String, path: Path)?

    /// - Parameter untouched: what lies on these is not looked at, since it may not answer: then only the way there, names
    ///   and mounts count, and nothing is said to exist.
    init(of wanted: Path, mounts: [Mount], untouched: RemotePlaces?) {
        if case .remote(let point, let rest)? = untouched?.way(to: wanted) {
            self.init(
                base: point.parent.isEmpty ? Path("/") : point.parent, rest: [point.name] + rest, mounts: mounts,
                isUntouched: true)
            return
        }
        var existing = wanted
        var missing: [Path] = []
        var resolved = Self.realpath(existing)
        while resolved == nil, !existing.components.isEmpty {
            missing.insert(existing.name, at: 0)
            existing = existing.parent
            resolved = Self.realpath(existing)
        }
        self.init(base: resolved ?? Path("/"), rest: missing, mounts: mounts, isUntouched: false)
    }

    /// - Parameter base: without links, and there; `rest` below it is taken as it is named.
    private init(base: Path, rest: [Path], mounts: [Mount], isUntouched: Bool) {
        self.isUntouched = isUntouched
        let real = rest.reduce(base) { $1 == Path("..") ? $0.parent : $1 == Path(".") ? $0 : $0 / $1 }
        path = real
        exists = rest.isEmpty

        var chain: [Identity] = []
        var folder = base
        while true {
            if let identity = Self.identity(of: folder) { chain.append(identity) }
            if folder.components.isEmpty { break }
            folder = folder.parent
        }
        self.chain = chain

        // The last of the deepest mounts hides those before it.
        let mount = mounts.enumerated()
            .filter { $0.element.point == real || real.below($0.element.point) != nil || $0.element.point == Path("/") }
            .max { ($0.element.point.components.count, $0.offset) < ($1.element.point.components.count, $1.offset) }?
            .element
        inside = mount.map { ($0.device, $0.root / (real.below($0.point) ?? Path(bytes: []))) }
    }

    /// Whether this is `other` or lies inside it.
    func isWithin(_ other: RealPlace) -> Bool {
        if path == other.path || path.below(other.path) != nil { return true }
        if other.exists, let identity = other.chain.first, chain.contains(identity) { return true }
        guard let inside, let its = other.inside, inside.filesystem == its.filesystem else { return false }
        return inside.path == its.path || inside.path.below(its.path) != nil
    }

    private static func realpath(_ path: Path) -> Path? {
        guard let resolved = unsafe path.withCString({ unsafe Glibc.realpath($0, nil) }) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe Path(bytes: UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
    }

    private static func identity(of path: Path) -> Identity? {
        var status = stat()
        guard unsafe path.withCString({ unsafe stat($0, &status) }) == 0 else { return nil }
        return Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}
