import Files
import PhotoModel

/// Which drop folders may keep whoever looks at them waiting for ever: those on a share whose server does not answer, or
/// with such a share mounted below. Found out without touching one of them, from the mount table and the links on the way.
struct RemotePlaces {
    /// Mount points under which something remote lies on top.
    private let points: Set<Path>

    init(_ mounts: [Mount]) {
        var points: Set<Path> = []
        for mount in mounts {
            if mount.isRemote { points.insert(mount.point) } else { points.remove(mount.point) }
        }
        self.points = points
    }

    /// As things are now; without /proc nothing is known to be remote.
    static func now() -> RemotePlaces {
        do throws(Errno) { return RemotePlaces(try Mounts().read()) } catch { return RemotePlaces([]) }
    }

    /// - Parameter path: absolute, and may pass through symbolic links.
    func areTouched(by path: Path) -> Bool {
        if points.isEmpty { return false }
        var place = Path("/")
        if points.contains(place) { return true }
        var rest = Array(path.components.reversed())
        var links = 0
        while let name = rest.popLast() {
            if name == Path(".") { continue }
            if name == Path("..") {
                place = place.parent.isEmpty ? Path("/") : place.parent
                continue
            }
            let next = place / name
            // Asked before it is looked at: that may be what hangs.
            if points.contains(next) { return true }
            guard let target = MountNews.target(of: next) else {
                place = next
                continue
            }
            links += 1
            guard links <= Self.mostLinks else { return false }  // ELOOP: it cannot be opened either
            if target.isAbsolute { place = Path("/") }
            rest += target.components.reversed()
        }
        return points.contains { $0.below(place) != nil }
    }

    /// As many as the kernel follows; path_resolution(7).
    private static let mostLinks = 40
}
