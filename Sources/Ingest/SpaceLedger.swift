import PhotoModel
import Synchronization

/// What imports in flight have still to write, so that two of them do not both count on the last gigabyte. What they
/// have written already is missing from the free space by itself.
final class SpaceLedger: Sendable {
    private let outstanding = Mutex<Int64>(0)

    /// A part of the free space that one import counts on, until it has written it or has ended.
    final class Share: Sendable {
        private let ledger: SpaceLedger
        private let left: Mutex<Int64>

        fileprivate init(_ ledger: SpaceLedger, bytes: Int64) {
            self.ledger = ledger
            left = Mutex(bytes)
        }

        func wrote(_ bytes: Int64) {
            let taken = left.withLock { left in
                let taken = min(left, max(bytes, 0))
                left -= taken
                return taken
            }
            ledger.outstanding.withLock { $0 -= taken }
        }

        deinit {
            let rest = left.withLock { $0 }
            ledger.outstanding.withLock { $0 -= rest }
        }
    }

    /// - Returns: nil when `bytes` do not fit beside what others have still to write, with `reserve` left over.
    func share(_ bytes: Int64, free: ByteCount, reserve: ByteCount) -> Share? {
        let fits = outstanding.withLock { outstanding in
            let (needed, overflow) = bytes.addingReportingOverflow(reserve.bytes)
            guard !overflow, free.bytes - outstanding >= needed else { return false }
            outstanding += bytes
            return true
        }
        return fits ? Share(self, bytes: bytes) : nil
    }
}
