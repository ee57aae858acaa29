import Files
import Glibc
import PhotoModel

/// Makes the kernel's queue of each inotify that is opened from now on eight events long, until this ends. It is the whole
/// machine's setting: only one test of any process has it at a time, so that what is put back is what was there.
struct ShortEventQueue: ~Copyable {
    private let lock: Int32
    private let before: [UInt8]

    private static let file = "/proc/sys/fs/inotify/max_queued_events"

    /// nil for who may not.
    init?() async {
        guard getuid() == 0 else { return nil }
        let lock = unsafe open(Self.file, O_RDWR | O_CLOEXEC)
        guard lock >= 0 else { return nil }
        while flock(lock, LOCK_EX | LOCK_NB) != 0 {
            // The test's own time limit ends this.
            guard (try? await Task.sleep(for: .milliseconds(20))) != nil else {
                close(lock)
                return nil
            }
        }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe pread(lock, &bytes, bytes.count, 0)
        guard count > 0, Self.set(lock, Array("8".utf8)) else {
            close(lock)
            return nil
        }
        before = Array(bytes.prefix(count))
        self.lock = lock
    }

    private static func set(_ lock: Int32, _ value: [UInt8]) -> Bool {
        unsafe pwrite(lock, value, value.count, 0) == value.count
    }

    /// Puts it back.
    consuming func end() {}

    deinit {
        _ = Self.set(lock, before)  // it was written a moment ago
        close(lock)
    }
}
