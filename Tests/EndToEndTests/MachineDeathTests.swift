import TestSupport
import Testing

@Suite("A machine that dies", .tags(.neverLost, .neverPartial, .exactlyOnce), .serialized)
struct MachineDeathTests {
    @Test(.timeLimit(.minutes(30)))
    func `R4 T3 has all that was said to be imported when it starts again, and brings each photo home`() async throws {
        try await runRig("deaths.py", ["20"])
    }

    @Test(.timeLimit(.minutes(15)))
    func `R14 shows what a daemon would forget that does not wait for its log`() async throws {
        try await runRig("deaths.py", ["faults"])
    }
}

@Suite("A library's disk that fails to write, and heals", .tags(.neverLost, .saysWhatIsWrong), .serialized)
struct WritebackTests {
    @Test(.timeLimit(.minutes(15)))
    func `T6 gets each photo anew, and what had failed is not believed`() async throws {
        try await runRig("eio.py", [])
    }

    @Test(.timeLimit(.minutes(15)))
    func `R14 shows what a daemon would lose that asks its disk twice`() async throws {
        try await runRig("eio.py", ["faults"])
    }
}
