import PhotoModel
import Testing

@testable import Workers

@Suite("A gate", .timeLimit(.minutes(1))) struct GateTests {
    @Test func `lets one at a time pass for each key, with overlapping keys in any order, and never locks up`() async {
        let gate = Gate<Int>()
        let inside = Monitor<[Int: Int]>([:])
        let passed = Counter()
        await withDiscardingTaskGroup { group in
            for number in 0..<400 {
                group.addTask {
                    let keys: Set<Int> = [number % 7, (number * 3) % 7, (number * 5 + 1) % 7]
                    await gate.holding(keys) {
                        inside.withLock { inside in
                            for key in keys {
                                inside[key, default: 0] += 1
                                #expect(inside[key] == 1)
                            }
                        }
                        await Task.yield()
                        passed.enter()
                        inside.withLock { inside in for key in keys { inside[key, default: 0] -= 1 } }
                    }
                }
            }
        }
        #expect(passed.total == 400)
    }

    @Test func `keeps its place for one who waits for several keys`() async {
        let gate = Gate<String>()
        let order = Monitor<[String]>([])
        await gate.acquire(["a"])
        await withDiscardingTaskGroup { group in
            group.addTask {
                await gate.acquire(["a", "b"])
                order.withLock { $0.append("both") }
                gate.release(["a", "b"])
            }
            while gate.waiting < 1 { await Task.yield() }
            group.addTask {  // b is free, but the one before wants it too
                await gate.acquire(["b"])
                order.withLock { $0.append("late") }
                gate.release(["b"])
            }
            while gate.waiting < 2 { await Task.yield() }
            await gate.acquire(["c"])  // nobody wants it: at once
            gate.release(["c"])
            #expect(order.withLock { $0 } == [])
            gate.release(["a"])
        }
        #expect(order.withLock { $0 } == ["both", "late"])
    }

    @Test func `gives the keys back when the body throws`() async throws {
        struct Refusal: Error {}
        let gate = Gate<Int>()
        await #expect(throws: Refusal.self) {
            try await gate.holding([1]) { () throws(Refusal) in throw Refusal() }
        }
        await gate.acquire([1])
        gate.release([1])
    }
}

@Suite("A budget of memory", .timeLimit(.minutes(1))) struct MemoryBudgetTests {
    @Test func `is never exceeded, except by one that could never fit, alone`() async {
        let budget = MemoryBudget(limit: ByteCount(100))
        let most = Monitor<(sum: Int64, alone: Int)>((0, 0))
        let pool = BlockingPool(named: "budget", width: 8)
        await withDiscardingTaskGroup { group in
            for number in 0..<300 {
                let bytes: Int64 = number % 50 == 0 ? .max : Int64(number % 60)
                group.addTask {
                    await pool.run {
                        guard let share = budget.take(ByteCount(bytes), isCancelled: { false }) else { return }
                        let taken = budget.taken.bytes
                        most.withLock {
                            if bytes == .max {
                                $0.alone += 1
                                #expect(taken == .max)
                            } else {
                                $0.sum = max($0.sum, taken)
                            }
                        }
                        #expect(share.bytes == bytes)
                    }
                }
            }
        }
        #expect(most.withLock { $0.sum } <= 100)
        #expect(most.withLock { $0.alone } == 6)
        #expect(budget.taken == .zero)
        pool.stop()
    }

    @Test func `does not let small ones pass a large one that waits`() async {
        let budget = MemoryBudget(limit: ByteCount(10))
        let order = Monitor<[Int64]>([])
        let pool = BlockingPool(named: "budget", width: 4)
        await withDiscardingTaskGroup { group in
            let first = budget.take(ByteCount(6), isCancelled: { false })
            for bytes: Int64 in [9, 3, 2] {
                let before = budget.waiting
                group.addTask {
                    await pool.run {
                        let share = budget.take(ByteCount(bytes), isCancelled: { false })
                        order.withLock { $0.append(bytes) }
                        _ = consume share
                    }
                }
                // 3 and 2 would fit beside the 6, and have to stand behind the 9.
                while budget.waiting == before { await Task.yield() }
            }
            #expect(budget.taken.bytes == 6)
            #expect(order.withLock { $0 } == [])
            _ = consume first
        }
        #expect(order.withLock { $0.first } == 9)
        #expect(budget.taken == .zero)
        pool.stop()
    }

    @Test func `lets those behind go on when one that waits is cancelled`() async {
        let budget = MemoryBudget(limit: ByteCount(10))
        let isCancelled = Monitor(false)
        let pool = BlockingPool(named: "budget", width: 2)
        await withDiscardingTaskGroup { group in
            let first = budget.take(ByteCount(6), isCancelled: { false })
            group.addTask {
                await pool.run {
                    let share = budget.take(ByteCount(9)) { isCancelled.withLock { $0 } }
                    let isThere = share != nil
                    #expect(!isThere)
                }
            }
            while budget.waiting == 0 { await Task.yield() }
            group.addTask { await pool.run { _ = budget.take(ByteCount(4), isCancelled: { false }) } }
            while budget.waiting == 1 { await Task.yield() }
            isCancelled.withLock { $0 = true }
            while budget.waiting > 0 { await Task.yield() }
            _ = consume first
        }
        #expect(budget.taken == .zero)
        pool.stop()
    }

    @Test func `lets the next in when it grows`() async {
        let budget = MemoryBudget(limit: ByteCount(10))
        let pool = BlockingPool(named: "budget", width: 1)
        await withDiscardingTaskGroup { group in
            let first = budget.take(ByteCount(10), isCancelled: { false })
            group.addTask { await pool.run { _ = budget.take(ByteCount(5), isCancelled: { false }) } }
            while budget.waiting == 0 { await Task.yield() }
            budget.limit = ByteCount(20)
            while budget.waiting > 0 { await Task.yield() }
            _ = consume first
        }
        #expect(budget.taken == .zero)
        pool.stop()
    }
}

@Suite("A cancellation") struct CancellationTests {
    @Test func `keeps its first reason`() {
        let cancellation = Cancellation()
        #expect(!cancellation.isCancelled)
        #expect(cancellation.reason == nil)
        cancellation.cancel(.stopping)
        cancellation.cancel(.requested)
        #expect(cancellation.isCancelled)
        #expect(cancellation.reason == .stopping)
    }
}

@Suite("The import window", .timeLimit(.minutes(1))) struct ImportWindowTests {
    @Test(arguments: [1, 2, 5])
    func `has never more imports in flight than its width, and brings every claim to its end`(width: Int) async {
        let window = ImportWindow()
        let left = Monitor(100)
        let counter = Counter()
        await window.run(
            width: width,
            claim: { () -> Int64? in
                left.withLock { left in
                    if left == 0 { return nil }
                    left -= 1
                    return Int64(left)
                }
            },
            job: { $0 },
            importing: { job in
                counter.enter()
                #expect(await window.inFlight.contains(job))
                for _ in 0..<5 { await Task.yield() }
                counter.leave()
            })
        #expect(counter.total == 100)
        #expect(counter.most <= width)
        #expect(await window.inFlight.isEmpty)
    }

    @Test func `claims no more once cancelled, and waits for what is in flight`() async {
        let window = ImportWindow()
        let counter = Counter()
        let isOpen = Monitor(false)
        let pool = BlockingPool(named: "window", width: 2)
        let ended = Counter()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await window.run(
                    width: 2,
                    claim: { () -> Int64? in
                        counter.enter()
                        return Int64(counter.total)
                    },
                    job: { $0 },
                    importing: { _ in
                        await pool.run { isOpen.wait { $0 ? () : nil } }
                        ended.enter()
                    })
            }
            while await window.inFlight.count < 2 { await Task.yield() }
            group.cancelAll()
            isOpen.withLock { $0 = true }
        }
        #expect(counter.total == 2)
        #expect(ended.total == 2)
        pool.stop()
    }
}
