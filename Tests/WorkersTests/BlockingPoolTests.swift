import Glibc
import Synchronization
import Testing

@testable import Workers

/// Counts who is inside, and the most there ever were.
final class Counter: Sendable {
    private let state = Mutex((now: 0, most: 0, total: 0))
    func enter() {
        state.withLock {
            $0.now += 1
            $0.total += 1
            $0.most = max($0.most, $0.now)
        }
    }
    func leave() { state.withLock { $0.now -= 1 } }
    var most: Int { state.withLock { $0.most } }
    var total: Int { state.withLock { $0.total } }
}

/// What the kernel calls the running thread; proc(5), comm.
func nameOfThread() -> String {
    let file = unsafe open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var name = [UInt8](repeating: 0, count: 16)
    let count = unsafe read(file, &name, name.count)
    return String(decoding: name.prefix(max(0, count - 1)), as: UTF8.self)  // ends with a newline
}

@Suite("A pool for blocking calls", .timeLimit(.minutes(1))) struct BlockingPoolTests {
    struct Refusal: Error, Equatable { let number: Int }

    @Test func `runs all it is given, on as many threads as it has`() async {
        let pool = BlockingPool(named: "test", width: 3)
        let counter = Counter()
        let names = Monitor<Set<String>>([])
        // The first three wait for each other, so that three threads are proved to be there.
        let meeting = Monitor(0)
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 1...1000 {
                group.addTask {
                    await pool.run {
                        counter.enter()
                        defer { counter.leave() }
                        let order = meeting.withLock {
                            $0 += 1
                            return $0
                        }
                        if order <= 3 { meeting.wait { $0 >= 3 ? () : nil } }
                        let text = nameOfThread()
                        names.withLock { _ = $0.insert(text) }
                        return number
                    }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 500_500)
        #expect(counter.total == 1000)
        #expect(counter.most == 3)
        #expect(names.withLock { $0 } == ["test-1", "test-2", "test-3"])
        pool.stop()
    }

    @Test func `starts work in the order it came`() async {
        let pool = BlockingPool(named: "order", width: 1)
        let started = Monitor<[Int]>([])
        await withDiscardingTaskGroup { group in
            let isOpen = Monitor(false)
            group.addTask { await pool.run { isOpen.wait { $0 ? () : nil } } }
            for number in 0..<600 {  // more than the queue keeps before it moves up
                group.addTask { await pool.run { started.withLock { $0.append(number) } } }
                // The next is given only once this one is in the queue.
                while pool.waiting <= number { await Task.yield() }
            }
            isOpen.withLock { $0 = true }
        }
        #expect(started.withLock { $0 } == Array(0..<600))
        pool.stop()
    }

    @Test func `gives back what a body throws, with its type`() async {
        let pool = BlockingPool(named: "throw", width: 1)
        await #expect(throws: Refusal(number: 7)) {
            try await pool.run { () throws(Refusal) -> Int in throw Refusal(number: 7) }
        }
        pool.stop()
    }

    @Test func `finishes what was given before it stops, and still answers afterwards`() async {
        let pool = BlockingPool(named: "stop", width: 2)
        let counter = Counter()
        await withDiscardingTaskGroup { group in
            for _ in 0..<50 { group.addTask { await pool.run { counter.enter() } } }
        }
        pool.stop()
        #expect(counter.total == 50)
        #expect(await pool.run { 42 } == 42)
    }

    @Test func `blocks every signal but a thread's own faults`() async {
        let pool = BlockingPool(named: "signals", width: 1)
        let blocked = await pool.run {
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            return (1...31).filter { unsafe sigismember(&mask, Int32($0)) == 1 }
        }
        #expect(Set([SIGIO, SIGTERM, SIGHUP, SIGINT, SIGCHLD, SIGPIPE, SIGUSR1].map(Int.init)).isSubset(of: blocked))
        #expect(
            Set([SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS].map(Int.init)).isDisjoint(with: blocked))
        pool.stop()
    }

    @Test func `leaves the signals of the one who starts a thread as they were`() {
        var before = sigset_t()
        var after = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &before)
        DaemonThread(named: "signals") {}.join()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &after)
        for signal in Int32(1)...64 {
            #expect(unsafe sigismember(&before, signal) == sigismember(&after, signal))
        }
    }

    @Test func `a thread of its own is waited for`() {
        let counter = Counter()
        let thread = DaemonThread(named: "a name of more than fifteen bytes") { counter.enter() }
        thread.join()
        #expect(counter.total == 1)
    }
}
