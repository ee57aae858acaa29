import Files
import Glibc
import PhotoModel

/// How much memory there is for this process, and how short of it the machine is, as proc(5) and cgroups(7) tell.
enum MachineMemory {
    /// What all imports may take together: as configured, else a quarter of what there is.
    static func budget(_ settings: ImportSettings) -> ByteCount {
        settings.memoryBudget ?? ByteCount(max(16 << 20, available / 4))
    }

    /// The machine's memory, or the least limit of the cgroups that this process is in. Bytes.
    static var available: Int64 {
        let machine = Int64(sysconf(Int32(_SC_PHYS_PAGES))) * Int64(sysconf(Int32(_SC_PAGESIZE)))
        return limits(of: cgroup).reduce(machine) { min($0, $1) }
    }

    /// Percent of the last ten seconds in which something waited for memory: in our cgroup, or on the whole machine,
    /// whichever is more. 0 where the kernel does not tell.
    static var stalled: Double {
        [Path("/proc/pressure/memory"), place(cgroup) / "memory.pressure"].compactMap(text).map(average).max() ?? 0
    }

    /// The limits of a cgroup of version 2 and of those that it lies in: memory.max, and memory.high, where it is slowed
    /// down.
    static func limits(of group: String, below root: Path = Path("/sys/fs/cgroup")) -> [Int64] {
        var limits: [Int64] = []
        var parts = group.split(separator: "/").map(String.init)
        while true {
            let folder = parts.reduce(root) { $0 / $1 }
            for name in ["memory.max", "memory.high"] {
                // "max" is no number, and no limit.
                if let text = text(folder / name), let limit = Int64(text.prefix { $0 != "\n" }) {
                    limits.append(limit)
                }
            }
            guard parts.popLast() != nil else { return limits }
        }
    }

    /// `some avg10=1.23 avg60=…`, the first line of a pressure file.
    static func average(_ text: String) -> Double {
        guard let field = text.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }) else { return 0 }
        return Double(field.dropFirst(6)) ?? 0
    }

    /// Ours, of version 2: the line that begins with `0::`.
    private static var cgroup: String {
        let lines = text(Path("/proc/self/cgroup"))?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("0::") }.map { String($0.dropFirst(3)) } ?? "/"
    }

    private static func place(_ group: String) -> Path {
        group.split(separator: "/").reduce(Path("/sys/fs/cgroup")) { $0 / String($1) }
    }

    /// nil where there is no such file: another kernel, or no cgroups.
    private static func text(_ path: Path) -> String? {
        let file = unsafe path.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = unsafe read(file, &bytes, bytes.count)
        return count >= 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
