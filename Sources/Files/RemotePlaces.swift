import Glibc
package import PhotoModel

/// Which paths may keep whoever looks at them waiting for ever: those on a share whose server does not answer, or with such
/// a share mounted below. Found out without touching one of them, from the mount table and the links on the way.
package struct RemotePlaces: Sendable {
    /// Mount points under which something remote lies on top.
    private let points: Set<Path>

    package init(_ mounts: [Mount]) {
        var points: Set<Path> = []
        for mount in mounts {
            if mount.isRemote { points.insert(mount.point) } else { points.remove(mount.point) }
        }
        self.points = points
    }

    /// As things are now; without /proc nothing is known to be remote.
    package static func now() -> RemotePlaces {
        do throws(Errno) { return RemotePlaces(try Mounts().read()) } catch { return RemotePlaces([]) }
    }

    /// - Parameter path: absolute, and may pass through symbolic links.
    package func areTouched(by path: Path) -> Bool {
        if points.isEmpty { return false }
        switch way(to: path) {
        case .remote: return true
        case .endless: return false
        case .local(let place): return points.contains { $0.below(place) != nil }
        }
    }

    /// Where the way to a path leads, as far as it can be followed without asking a server.
    package enum Way {
        /// To the end, through every link.
        case local(Path)
        /// To a mount point with something remote on top; `rest` is still to go from there, by links perhaps.
        case remote(point: Path, rest: [Path])
        /// It cannot be opened (ELOOP).
        case endless
    }

    package func way(to path: Path) -> Way {
        var place = Path("/")
        var rest = Array(path.components.reversed())
        var links = 0
        if points.contains(place) { return .remote(point: place, rest: rest.reversed()) }
        while let name = rest.popLast() {
            if name == Path(".") { continue }
            if name == Path("..") {
                place = place.parent.isEmpty ? Path("/") : place.parent
                continue
            }
            let next = place / name
            // Asked before it is looked at: that may be what hangs.
            if points.contains(next) { return .remote(point: next, rest: rest.reversed()) }
            guard let target = linkTarget(of: next) else {
                place = next
                continue
            }
            links += 1
            guard links <= Self.mostLinks else { return .endless }
            if target.isAbsolute { place = Path("/") }
            rest += target.components.reversed()
        }
        return .local(place)
    }

    /// As many as the kernel follows; path_resolution(7).
    private static let mostLinks = 40
}

/// What a symbolic link says; nil for anything else.
package func linkTarget(of link: Path) -> Path? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe link.withCString { path in
        unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let start = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return 0 }
            return unsafe readlink(path, start, bytes.count)
        }
    }
    return count > 0 && count < buffer.count ? Path(bytes: buffer[..<count]) : nil
}
