import Files
import Glibc
import PhotoModel

/// The kernel's reports about folders; inotify(7). Closed with the last reference.
final class Inotify {
    struct Event {
        let watch: Int32
        let mask: UInt32
        /// Empty when the event is about the watched folder itself.
        let name: Path

        func has(_ flag: Int32) -> Bool { mask & UInt32(bitPattern: flag) != 0 }
        var isFolder: Bool { mask & UInt32(IN_ISDIR) != 0 }
        var isOverflow: Bool { mask & UInt32(IN_Q_OVERFLOW) != 0 }
        /// The watch is gone, whoever took it away.
        var isIgnored: Bool { mask & UInt32(IN_IGNORED) != 0 }
        var isUnmount: Bool { mask & UInt32(IN_UNMOUNT) != 0 }
        /// A file's name appeared, or its writer closed it.
        var isArrival: Bool { mask & UInt32(IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO) != 0 }
        var isDeparture: Bool { mask & UInt32(IN_DELETE | IN_MOVED_FROM) != 0 }
        /// Of a file: it counts as changed now, even when its size and time are as before.
        var wasWritten: Bool { mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO) != 0 }
        var isRemoval: Bool { mask & UInt32(IN_DELETE_SELF) != 0 }
        /// The watched folder itself was removed or got another name.
        var isOwnDeparture: Bool { mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF) != 0 }
    }

    /// No MODIFY: a big copy would bring an event for each write. That a file grows shows in its size and time when
    /// its wait is over.
    private static let mask =
        UInt32(IN_CREATE | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
        | UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)

    let descriptor: Descriptor
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)

    init() throws(Errno) {
        let number = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
        guard number >= 0 else { throw .last }
        descriptor = Descriptor(adopting: number)
    }

    /// Watches the folder that is held, by its number: no path, so nothing can be put in its place on the way.
    ///
    /// - Returns: the watch; that of an earlier call when the same folder is watched already.
    func add(_ folder: borrowing Folder) throws(Errno) -> Int32 {
        let held = Path("/proc/self/fd/\(folder.descriptor.rawValue)")
        return try unsafe held.withCString { path throws(Errno) in
            try retryingInterrupted { unsafe inotify_add_watch(descriptor.rawValue, path, Self.mask) }
        }
    }

    /// Watches one file for being closed by a writer.
    func add(closingOf file: borrowing Descriptor) throws(Errno) -> Int32 {
        let held = Path("/proc/self/fd/\(file.rawValue)")
        return try unsafe held.withCString { path throws(Errno) in
            try retryingInterrupted { unsafe inotify_add_watch(descriptor.rawValue, path, UInt32(IN_CLOSE_WRITE)) }
        }
    }

    func remove(_ watch: Int32) {
        // EINVAL when the kernel was quicker: the folder is gone, and so is the watch.
        _ = inotify_rm_watch(descriptor.rawValue, watch)
    }

    /// Reads what is queued, up to a buffer full. Empty when nothing is.
    func read() throws(Errno) -> [Event] {
        let number = descriptor.rawValue
        let filled: Int
        do throws(Errno) {
            filled = try unsafe filling(&buffer) { unsafe Glibc.read(number, $0.baseAddress, $0.count) }
        } catch .wouldBlock {
            return []
        }
        return unsafe buffer.withUnsafeBytes { bytes in
            var events: [Event] = []
            var place = 0
            // struct inotify_event: wd, mask, cookie, len, then len bytes of name padded with NUL.
            while place + 16 <= filled {
                let watch = unsafe bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)
                let mask = unsafe bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
                let length = Int(unsafe bytes.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self))
                let end = min(place + 16 + length, filled)
                let name = unsafe bytes[(place + 16)..<end].prefix { $0 != 0 }
                events.append(Event(watch: watch, mask: mask, name: unsafe Path(bytes: name)))
                place = end
            }
            return events
        }
    }
}
