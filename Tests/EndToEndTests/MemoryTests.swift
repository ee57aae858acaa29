import TestSupport
import Testing

@Suite("Memory of the real daemon and its decoders") struct MemoryTests {
    @Test(.timeLimit(.minutes(10))) func `stays within the budget with pictures of 100 megapixels`() async throws {
        try await runRig("memory.py", [rigsAreThinned ? "2" : "6", "1024"])
    }

    @Test(.timeLimit(.minutes(10))) func `D15 does not grow with the photos that wait`() async throws {
        try await runRig("flood.py", rigsAreThinned ? ["2000", "40"] : ["6000", "200"])
    }
}
