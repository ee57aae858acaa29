import CLinux
import Files

/// Wakes the watcher's thread from any other; eventfd(2).
final class Bell: Sendable {
    let descriptor: Descriptor

    /// nil when the process has no descriptor left.
    init?() {
        let number = watch_bell()
        guard number >= 0 else { return nil }
        descriptor = Descriptor(adopting: number)
    }

    func ring() { watch_ring(descriptor.rawValue) }

    func hush() { watch_hush(descriptor.rawValue) }
}
