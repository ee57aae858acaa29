internal import Glibc

/// Signals as something to ask for between two steps, instead of handlers that may run anywhere: nothing has to be
/// safe inside a handler, and the terminal is always put in order by the ordinary way out.
struct Signals: ~Copyable {
    private var before = sigset_t()
    private var watched = sigset_t()

    /// Holds `numbers` back from now on; they are given by ``next()``.
    init(_ numbers: [Int32]) {
        unsafe sigemptyset(&watched)
        for number in numbers { unsafe sigaddset(&watched, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &watched, &before)
    }

    deinit {
        var before = before
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// One that came in, or nil; never waits.
    func next() -> Int32? {
        var watched = watched
        var none = timespec()
        let number = unsafe sigtimedwait(&watched, nil, &none)
        return number > 0 ? number : nil
    }
}
