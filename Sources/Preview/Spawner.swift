import Dispatch
import Files
import PhotoModel
import Synchronization
import Workers

/// The one thread that starts decoders.
///
/// A decoder asks for SIGKILL when its parent ends (PR_SET_PDEATHSIG), and the kernel means the *thread* that started it:
/// prctl(2). Started from a pool thread, it would be shot in the middle of a photo when that thread is let go. This thread
/// lives as long as the pool.
final class Spawner: Sendable {
    private let orders = Orders()

    init() {
        let thread = DaemonThread(named: "spawner") { [orders] in
            while let order = orders.next() { order() }
        }
        _ = consume thread  // detached: it ends with the orders
    }

    deinit { orders.stop() }

    /// Blocks until the program runs or could not be started.
    func start(_ program: Path) throws(Errno) -> DecoderProcess {
        let answer = Answer()
        let isTaken = orders.add {
            let result: Result<DecoderProcess, Errno>
            do throws(Errno) { result = .success(try DecoderProcess(program: program)) } catch {
                result = .failure(error)
            }
            answer.outcome.withLock { $0 = result }
            answer.isThere.signal()
        }
        guard isTaken else { throw .interrupted }
        answer.isThere.wait()
        guard let result = answer.outcome.withLock({ $0 }) else { throw .interrupted }
        return try result.get()
    }

    /// Takes no more orders, and ends the thread once those taken are done; with it go all decoders.
    func stop() { orders.stop() }

    private final class Answer: Sendable {
        let outcome = Mutex<Result<DecoderProcess, Errno>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    private final class Orders: Sendable {
        private struct State {
            var waiting: [@Sendable () -> Void] = []
            var isStopped = false
        }

        private let state = Mutex(State())
        private let wake = DispatchSemaphore(value: 0)

        /// - Returns: whether it will be done.
        func add(_ order: @escaping @Sendable () -> Void) -> Bool {
            let isTaken = state.withLock { state in
                if !state.isStopped { state.waiting.append(order) }
                return !state.isStopped
            }
            if isTaken { wake.signal() }
            return isTaken
        }

        /// Blocks for the next order; nil when there will be none.
        func next() -> (@Sendable () -> Void)? {
            wake.wait()
            return state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        }

        func stop() {
            state.withLock { $0.isStopped = true }
            wake.signal()
        }
    }
}
