import Glibc

/// A connection that threads take in turn.
///
/// The house keeps system calls out of `Mutex`; here the call is what is guarded. A transaction has to be whole before
/// the next begins on the same connection, and its fsync(2) is the price of the promise that what was answered is
/// durable. Whoever waits is a blocking thread anyway, so it waits in the kernel, on a pthread mutex.
///
/// `@unchecked Sendable`: the connection is touched only between lock and unlock of `mutex`, whose address is stable
/// from init to deinit.
@safe package final class GuardedConnection: @unchecked Sendable {
    private let connection: Connection
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    package init(_ connection: consuming Connection) {
        self.connection = connection
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "a mutex with default attributes has nothing to refuse")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Not to be called from inside `body`: the lock is not recursive.
    package func with<Result, Failure: Error>(
        _ body: (borrowing Connection) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(connection)
    }
}
