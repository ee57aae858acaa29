import TestSupport
import Testing

/// The rigs of Tests/Rigs that look at what a disk may hold; each prints its counts.
@Suite("A disk that loses what was not made durable, or goes bad", .tags(.neverLost), .serialized)
struct PowerCutTests {
    /// G1 of the goals: every moment of an import, and all that POSIX lets a disk make of it. Then G11: what is certain
    /// before a source goes.
    @Test(.timeLimit(.minutes(15)))
    func `G1 G11 loses no photo, shows none in part and forgets no promise, whenever the power is cut`() async throws {
        try await runRig("powercut.py", ["5400"])
    }

    /// G14: four of the ten faults that the rigs have to see. Without this nobody knows that the test above can fail.
    @Test(.timeLimit(.minutes(10)))
    func `G14 shows what a daemon would lose that forgets to make something durable`() async throws {
        try await runRig("powercut.py", ["faults"])
    }

    /// G6, and with a verification from the cache G14 again.
    @Test(.timeLimit(.minutes(10)))
    func `G6 is not believed when it turns over a bit between writing and reading back`() async throws {
        try await runRig("flips.py", [])
    }
}
