import CLinux
import Glibc
package import PhotoModel

/// What a filesystem can do, tried on files that never get a name: nothing is left of them, however this ends.
package struct FilesystemProbe: Hashable, Sendable {
    /// Why two files cannot share their bytes; nil when they can.
    package let sharing: Errno?
    /// Why a file cannot be read past the page cache; nil when it can.
    package let directReading: Errno?
}

extension Folder {
    /// - Throws: why no file can be made here: ``Errno/notSupported`` (or ``Errno/isDirectory``) of a filesystem that
    ///   knows no files without a name.
    package func probe() throws(Errno) -> FilesystemProbe {
        let one = try nameless()
        let other = try nameless()
        try one.write([UInt8](repeating: 0x70, count: Workbench.alignment))
        try one.synchronize()
        return FilesystemProbe(
            sharing: files_clone(other.rawValue, one.rawValue) == 0 ? nil : Errno.last,
            directReading: Self.directReading(of: one.rawValue))
    }

    private func nameless() throws(Errno) -> Descriptor {
        // Not through openat2: that refuses O_TMPFILE with a mode on some kernels, and `.` needs no confining.
        let number = try retryingInterrupted {
            unsafe openat(descriptor.rawValue, ".", FILES_O_TMPFILE | O_RDWR | O_CLOEXEC, mode_t(0o600))
        }
        return Descriptor(adopting: number)
    }

    private static func directReading(of file: Int32) -> Errno? {
        guard let direct = openPastCache(file) else { return .last }
        let memory = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Workbench.alignment, alignment: Workbench.alignment)
        defer { unsafe memory.deallocate() }
        do throws(Errno) {
            return try unsafe direct.read(into: memory, at: 0) == Workbench.alignment ? nil : .io
        } catch {
            return error
        }
    }

    /// Whether names differ by more than their case here, told by `name`, which is there and has letters.
    package func ignoresCase(of name: Path) throws(Errno) -> Bool {
        let turned = name.bytes.map { byte -> UInt8 in
            switch byte {
            case 0x41...0x5A: byte + 0x20
            case 0x61...0x7A: byte - 0x20
            default: byte
            }
        }
        let own = try status(of: name)
        do throws(Errno) {
            return try status(of: Path(bytes: turned)).isSameFile(as: own)
        } catch .noEntry {
            return false
        }
    }
}
