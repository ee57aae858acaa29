import Foundation
import TestSupport
import Testing

/// The rigs of Tests/Rigs that look at what a disk may hold; each prints its counts.
@Suite("A disk that loses what was not made durable, or goes bad", .tags(.neverLost), .serialized)
struct PowerCutTests {
    /// Goal R1: every moment of an import, and all that POSIX lets a disk make of it. Then R11: what is certain,
    /// written down and read back before a source goes.
    @Test(.timeLimit(.minutes(15)))
    func `R1 R11 loses no photo, shows none in part and forgets no promise, whenever the power is cut`() async throws {
        try await runRig("powercut.py", ["5400"])
    }

    @Test(.timeLimit(.minutes(10)))
    func `R6 is not believed when it turns over a bit between writing and reading back`() async throws {
        try await runRig("flips.py")
    }

    /// R14. Without this nobody knows that the rigs can fail. A copy of the sources is patched and built for it.
    @Test(.timeLimit(.minutes(30)))
    func `R14 has all ten faults caught that are planted into the daemon`() async throws {
        if rigsAreThinned { return print("skipped: planted faults (the copy is built without a sanitizer)") }
        try await runRig("planted.py")
    }
}
