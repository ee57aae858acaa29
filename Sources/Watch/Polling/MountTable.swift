import Files
import Glibc
import PhotoModel

/// The mounts this process sees, and word of every change: a card is noticed the moment it is mounted. See
/// /proc/PID/mountinfo in proc(5).
final class MountTable {
    let descriptor: Descriptor
    private var points: Set<Path>

    /// nil without /proc: drop folders are then looked for every few seconds only.
    init?() {
        let number = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        descriptor = Descriptor(adopting: number)
        points = []
        points = Self.read(descriptor)
    }

    /// The mount points that came or went since it was last asked.
    func changes() -> Set<Path> {
        let now = Self.read(descriptor)
        defer { points = now }
        return points.symmetricDifference(now)
    }

    /// Where a held folder lies, links resolved.
    static func realPath(of folder: borrowing Folder) -> Path? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let link = Path("/proc/self/fd/\(folder.descriptor.rawValue)")
        let count = unsafe link.withCString { path in
            unsafe buffer.withUnsafeMutableBytes { bytes in
                guard let start = unsafe bytes.bindMemory(to: CChar.self).baseAddress else { return 0 }
                return unsafe readlink(path, start, bytes.count)
            }
        }
        return count > 0 && count < buffer.count ? Path(bytes: buffer[..<count]) : nil
    }

    private static func read(_ descriptor: borrowing Descriptor) -> Set<Path> {
        var text: [UInt8] = []
        var portion = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let start = Int64(text.count)
            let count: Int
            do throws(Errno) {
                let number = descriptor.rawValue
                count = try unsafe filling(&portion) { unsafe pread(number, $0.baseAddress, $0.count, off_t(start)) }
            } catch {
                return []  // every mount then counts as changed, which costs a look at each drop folder
            }
            if count == 0 { break }
            text += portion[..<count]
        }
        return Set(text.split(separator: UInt8(ascii: "\n")).compactMap(mountPoint(in:)))
    }

    /// The fifth field, in which space, tab, newline and backslash are three octal digits after a backslash.
    static func mountPoint(in line: some Sequence<UInt8>) -> Path? {
        let fields = Array(line).split(separator: UInt8(ascii: " "), maxSplits: 5)
        guard fields.count > 4 else { return nil }
        var bytes: [UInt8] = []
        var rest = fields[4]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3, digits.allSatisfy({ (0x30...0x37).contains($0) }) {
                bytes.append(digits.reduce(0) { $0 &* 8 &+ ($1 - 0x30) })
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return Path(bytes: bytes)
    }
}
