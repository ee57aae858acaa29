import Foundation
import PhotoModel
import Testing

@testable import photospoold

@Suite("Memory of the machine") struct MachineMemoryTests {
    /// As in cgroups(7) and Documentation/admin-guide/cgroup-v2.rst: "max" is no limit, and an outer group limits too.
    @Test func `is limited by every cgroup on the way up`() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "photospool-cgroup-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }  // only a temporary folder
        let unit = root.appending(path: "system.slice/photospool.service")
        try FileManager.default.createDirectory(at: unit, withIntermediateDirectories: true)
        for (folder, name, text) in [
            (unit, "memory.max", "max\n"), (unit, "memory.high", "805306368\n"),
            (root.appending(path: "system.slice"), "memory.max", "1073741824\n"),
        ] {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        let limits = MachineMemory.limits(of: "/system.slice/photospool.service", below: Path(root.path))
        #expect(limits.sorted() == [805_306_368, 1_073_741_824])
        #expect(MachineMemory.limits(of: "/", below: Path(root.path)) == [])
    }

    /// The file's own format: Documentation/accounting/psi.rst.
    @Test func `is short when the kernel says so`() {
        let text = "some avg10=12.34 avg60=0.00 avg300=0.00 total=83\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=1\n"
        #expect(MachineMemory.average(text) == 12.34)
        #expect(MachineMemory.average("") == 0)
    }

    @Test func `gives a quarter to imports unless it is configured`() throws {
        let installed = try String(contentsOfFile: "/proc/meminfo", encoding: .utf8)
        let words = installed.split(separator: "\n")[0].split(separator: " ")
        let total = try #require(Int64(words[1])) << 10
        #expect(MachineMemory.budget(ImportSettings()).bytes <= total / 4 + 4096)
        var settings = ImportSettings()
        settings.memoryBudget = .mebi(300)
        #expect(MachineMemory.budget(settings) == .mebi(300))
    }
}
