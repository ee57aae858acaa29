import Glibc

/// State that threads share and wait for a change of: a mutex and a condition of pthreads as one.
///
/// `Synchronization.Mutex` has no condition to wait on, and an actor cannot block a thread that has nothing else to do.
///
/// `@unchecked Sendable`, because: `state` is read and written only between lock and unlock of `mutex`, in
/// ``withLock(_:)`` and ``wait(until:)``; both hand `body` an inout that ends with it, and only `Sendable` results
/// leave. The mutex and the condition lie in memory of their own, so their address never changes, are initialised
/// before anybody can see this object and destroyed when nobody can any more.
@safe final class Monitor<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ state: sending State) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        self.state = state
        // With default attributes Linux's pthreads allocate nothing here: there is nothing to fail.
        let made = unsafe pthread_mutex_init(mutex, nil) | pthread_cond_init(condition, nil)
        precondition(made == 0, "pthreads refused a mutex")
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Changes the state and wakes everybody who waits for it. No system call, no other lock and no `await` inside.
    func withLock<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        lock()
        defer {
            unsafe pthread_cond_broadcast(condition)
            unlock()
        }
        return body(&state)
    }

    /// Blocks the thread until `body` has an answer; it is asked at once and after each change.
    func wait<Result: Sendable>(until body: (inout State) -> Result?) -> Result {
        lock()
        defer { unlock() }
        while true {
            if let result = body(&state) { return result }
            let code = unsafe pthread_cond_wait(condition, mutex)
            precondition(code == 0, "a mutex held by this thread was refused")
        }
    }

    private func lock() {
        let code = unsafe pthread_mutex_lock(mutex)
        precondition(code == 0, "a mutex that exists was refused")
    }

    private func unlock() {
        let code = unsafe pthread_mutex_unlock(mutex)
        precondition(code == 0, "a mutex held by this thread was refused")
    }
}
