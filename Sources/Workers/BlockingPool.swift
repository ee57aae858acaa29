/// A fixed number of threads for calls that block: reads, fsync, SQLite, decoding, waitpid. Work starts in the order
/// it was given; what exceeds the threads waits in a queue that its givers, who wait too, keep short.
package final class BlockingPool: Sendable {
    private struct Queue {
        var work: [@Sendable () -> Void] = []
        /// Of `work`, those already handed out: an array that is emptied from the front in constant time.
        var handedOut = 0
        var isStopped = false

        mutating func next() -> (@Sendable () -> Void)? {
            guard handedOut < work.count else { return nil }
            let first = work[handedOut]
            work[handedOut] = {}  // lets go of what it holds
            handedOut += 1
            if handedOut == work.count || handedOut >= 256 {
                work.removeFirst(handedOut)
                handedOut = 0
            }
            return first
        }
    }

    private enum Turn: Sendable {
        case work(@Sendable () -> Void)
        case end
    }

    package let width: Int
    private let queue = Monitor(Queue())
    private let running: Monitor<Int>

    /// - Parameter width: how many calls block at the same time, 1 or more.
    package init(named name: String, width: Int) {
        precondition(width >= 1)
        self.width = width
        running = Monitor(width)
        for number in 1...width {
            let thread = DaemonThread(named: "\(name)-\(number)") { [queue, running] in
                while case .work(let work) = queue.wait(until: { Self.turn(of: &$0) }) { work() }
                running.withLock { $0 -= 1 }
            }
            _ = consume thread  // detached: stop() counts them out
        }
    }

    deinit { queue.withLock { $0.isStopped = true } }

    /// Runs `body` on a thread of the pool, and gives back what it returns or throws. Never cancelled from outside:
    /// a body that can last asks a ``Cancellation``.
    package func run<Result: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let outcome = await withCheckedContinuation {
            (continuation: CheckedContinuation<Outcome<Result, Failure>, Never>) in
            let work: @Sendable () -> Void = {
                do throws(Failure) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            submit(work)
        }
        return try outcome.get()
    }

    /// Runs `work` on a thread of the pool, for callers that are called back rather than wait.
    package func submit(_ work: @escaping @Sendable () -> Void) {
        let isTaken = queue.withLock { queue in
            if queue.isStopped { return false }
            queue.work.append(work)
            return true
        }
        // After the end only last words come, from the one who is closing the house: said on his own thread.
        if !isTaken { work() }
    }

    /// How many calls have been given and not yet started.
    package var waiting: Int { queue.withLock { $0.work.count - $0.handedOut } }

    /// Lets what was given come to its end, then the threads. Blocks until they are gone; not from one of them.
    package func stop() {
        queue.withLock { $0.isStopped = true }
        running.wait { $0 == 0 ? () : nil }
    }

    private static func turn(of queue: inout Queue) -> Turn? {
        if let work = queue.next() { return .work(work) }
        return queue.isStopped ? .end : nil
    }

    private typealias Outcome = Swift.Result
}
