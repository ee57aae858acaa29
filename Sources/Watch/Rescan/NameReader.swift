import CLinux
import Files
import Glibc
import PhotoModel

/// The names in one folder, in portions, so that a folder with a million of them can be read between other things.
struct NameReader {
    struct Name {
        let path: Path
        /// As far as the folder itself says; nil when only stat(2) knows.
        let kind: FileKind?
    }

    private var buffer: [UInt8] = []
    private var place = 0
    private var filled = 0

    /// The next name but `.` and `..`; nil at the end.
    mutating func next(in folder: Int32) throws(Errno) -> Name? {
        while true {
            if place >= filled {
                if buffer.isEmpty { buffer = [UInt8](repeating: 0, count: 32 << 10) }
                let count = try unsafe filling(&buffer) { unsafe watch_read_names(folder, $0.baseAddress, $0.count) }
                if count == 0 { return nil }
                filled = count
                place = 0
            }
            if let name = takeName() { return name }
        }
    }

    /// struct linux_dirent64: ino (8), off (8), reclen (2), type (1), name with NUL.
    private mutating func takeName() -> Name? {
        let start = place
        let (length, type) = unsafe buffer.withUnsafeBytes { bytes in
            (
                Int(unsafe bytes.loadUnaligned(fromByteOffset: start + 16, as: UInt16.self)),
                Int(unsafe bytes.load(fromByteOffset: start + 18, as: UInt8.self))
            )
        }
        place += max(length, 19)
        let bytes = unsafe buffer.withUnsafeBytes { buffer in
            let name = unsafe buffer[(start + 19)..<min(place, filled)]
            return unsafe [UInt8](name.prefix(name.firstIndex(of: 0).map { unsafe $0 - name.startIndex } ?? name.count))
        }
        let dot = UInt8(ascii: ".")
        if bytes.first == dot, bytes.count == 1 || (bytes.count == 2 && bytes.last == dot) { return nil }
        let kind: FileKind? =
            switch type {
            case Int(DT_REG): .regular
            case Int(DT_DIR): .directory
            case Int(DT_LNK): .symlink
            case Int(DT_UNKNOWN): nil
            default: .other
            }
        return Name(path: Path(bytes: bytes), kind: kind)
    }
}
