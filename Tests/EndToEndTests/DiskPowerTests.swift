import TestSupport
import Testing

@Suite("A disk whose power is cut between two writes", .tags(.neverLost, .neverPartial), .serialized)
struct DiskPowerTests {
    @Test(.timeLimit(.minutes(15)), arguments: ["ext4", "xfs", "btrfs"])
    func `R2 T2 loses no photo, shows none in part and forgets no promise, on one disk and on two`(
        _ filesystem: String
    ) async throws {
        try await runRig("blocks.py", [filesystem, "100"])
    }

    /// Without this nobody knows that the test above can fail.
    @Test(.timeLimit(.minutes(15)))
    func `R14 shows what a daemon would lose on each of them that waits for no disk`() async throws {
        try await runRig("blocks.py", ["faults"])
    }
}
