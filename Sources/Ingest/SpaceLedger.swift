import PhotoModel
import Synchronization

/// What imports in flight may still write, so that two of them do not both count on the last gigabyte.
final class SpaceLedger: Sendable {
    private let promised = Mutex<Int64>(0)

    /// Promises `bytes` when they fit beside what others were promised, with `reserve` left over.
    ///
    /// - Returns: whether they fit; a promise must be given back with ``release(_:)``.
    func promise(_ bytes: Int64, free: ByteCount, reserve: ByteCount) -> Bool {
        promised.withLock { promised in
            let (needed, overflow) = bytes.addingReportingOverflow(reserve.bytes)
            guard !overflow, free.bytes - promised >= needed else { return false }
            promised += bytes
            return true
        }
    }

    func release(_ bytes: Int64) { promised.withLock { $0 -= bytes } }
}
