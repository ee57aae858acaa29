import CSQLite

/// What is asked while a statement runs.
private final class Question {
    let isCancelled: () -> Bool

    init(_ isCancelled: @escaping () -> Bool) { self.isCancelled = isCancelled }
}

extension Connection {
    /// Statements in `body` end with an error soon after `isCancelled` says so: it is asked every few thousand steps of
    /// SQLite's machine. <https://www.sqlite.org/c3ref/progress_handler.html>
    package func interruptible<Result, Failure: Error>(
        isCancelled: @escaping () -> Bool, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let question = Question(isCancelled)
        // Held by this frame for as long as SQLite has its address.
        let address = unsafe Unmanaged.passUnretained(question).toOpaque()
        unsafe sqlite3_progress_handler(
            handle, 10_000,
            { address in
                guard let address = unsafe address else { return 0 }
                return unsafe Unmanaged<Question>.fromOpaque(address).takeUnretainedValue().isCancelled() ? 1 : 0
            }, address)
        defer {
            unsafe sqlite3_progress_handler(handle, 0, nil, nil)
            withExtendedLifetime(question) {}
        }
        return try body()
    }
}
