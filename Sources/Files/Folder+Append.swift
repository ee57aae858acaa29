import CLinux
import Glibc
package import PhotoModel

extension Folder {
    /// Adds a line to a file that is only ever added to, and returns once it is on the medium, the file's name too.
    ///
    /// A last line that a power cut tore is ended first, so that it spoils only itself. Two processes that append at once
    /// do not tear each other's lines where the filesystem is local (write(2), O_APPEND); within one process the caller
    /// lets one at a time.
    /// - Parameter line: with its newline.
    package func appendDurably(_ line: [UInt8], to relative: Path, mode: UInt32) throws(Errno) {
        let file = try open(relative, O_RDWR | O_CREAT | O_APPEND, mode: mode)
        let size = try file.status().stamp.size
        var bytes = line
        if size > 0 {
            var last = [UInt8](repeating: 0, count: 1)
            let number = file.rawValue
            try retryingInterrupted { unsafe pread(number, &last, 1, Int(size) - 1) }
            if last[0] != UInt8(ascii: "\n") { bytes.insert(UInt8(ascii: "\n"), at: 0) }
        }
        try file.write(bytes)
        try file.synchronize()
        let parent = try relative.parent.isEmpty ? duplicate() : folder(at: relative.parent)
        try DurableNames.ensure(file, in: parent)
    }
}

extension Descriptor {
    /// The last `limit` bytes of a file, or all of it when it is shorter.
    package func readTail(limit: Int) throws(Errno) -> [UInt8] {
        let size = try status().stamp.size
        let offset = max(0, size - Int64(limit))
        var bytes = [UInt8](repeating: 0, count: Int(size - offset))
        var filled = 0
        while filled < bytes.count {
            let start = filled
            var outcome: Result<Int, Errno> = .success(0)
            unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start...])
                do throws(Errno) { outcome = .success(try unsafe read(into: rest, at: offset + Int64(start))) } catch {
                    outcome = .failure(error)
                }
            }
            let count = try outcome.get()
            if count == 0 { break }  // it was cut meanwhile
            filled += count
        }
        return Array(bytes.prefix(filled))
    }
}
