import Glibc
import Synchronization

/// What one copy or one read-back works with: a buffer fit for O_DIRECT and a digest. Kept and handed on, so that a
/// batch of thousands allocates as many as work at once.
///
/// `@unchecked Sendable`: a bench is in the hands of one ``with(_:)`` at a time, and is handed over through the mutex.
@safe final class Workbench: @unchecked Sendable {
    /// 1 MiB: one call in and one out beside 0.6 ms of hashing, and still a step for progress and cancellation.
    static let byteCount = 1 << 20
    /// O_DIRECT wants memory and offsets in multiples of the device's block, which is at most a page.
    static let alignment = 4096

    let buffer: UnsafeMutableRawBufferPointer
    var hash = SHA256()

    private init() {
        unsafe buffer = .allocate(byteCount: Self.byteCount, alignment: Self.alignment)
    }

    deinit { unsafe buffer.deallocate() }

    private static let idle = Mutex<[Workbench]>([])

    static func with<Result, Failure: Error>(
        _ body: (Workbench) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let bench = idle.withLock { $0.popLast() } ?? Workbench()
        defer {
            _ = bench.hash.finish()  // whatever an abandoned piece of work left in it
            idle.withLock { if $0.count < 16 { $0.append(bench) } }
        }
        return try body(bench)
    }
}
