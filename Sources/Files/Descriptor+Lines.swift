import Glibc

extension Descriptor {
    /// Calls `body` with every line that ends in a newline, without it, and where it begins. What follows the last newline
    /// is no line: it was torn, or is being written.
    /// - Parameters:
    ///   - longest: a longer line is passed over.
    ///   - body: returns false to end.
    package func forEachLine<Failure: Error>(
        longest: Int = 16 << 20, translate: (Errno) -> Failure,
        _ body: (_ line: ArraySlice<UInt8>, _ offset: Int64) throws(Failure) -> Bool
    ) throws(Failure) {
        var rest: [UInt8] = []
        var restOffset: Int64 = 0
        var isTooLong = false
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        var offset: Int64 = 0
        while true {
            let count: Int
            do throws(Errno) { count = try read(into: &piece, at: offset) } catch { throw translate(error) }
            if count == 0 { return }
            var start = 0
            while let end = piece[start..<count].firstIndex(of: UInt8(ascii: "\n")) {
                let line = rest.isEmpty ? piece[start..<end] : (rest + piece[start..<end])[...]
                let begin = rest.isEmpty && !isTooLong ? offset + Int64(start) : restOffset
                if !isTooLong, !line.isEmpty, try !body(line, begin) { return }
                rest.removeAll()
                isTooLong = false
                start = end + 1
            }
            if rest.isEmpty, !isTooLong { restOffset = offset + Int64(start) }
            if !isTooLong { rest += piece[start..<count] }
            if rest.count > longest {
                rest.removeAll()
                isTooLong = true
            }
            offset += Int64(count)
        }
    }

    /// `count` bytes from `offset` on, fewer where the file ends.
    package func readBytes(count: Int, at offset: Int64) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            var part = [UInt8](repeating: 0, count: count - filled)
            let got = try read(into: &part, at: offset + Int64(filled))
            if got == 0 { break }
            bytes.replaceSubrange(filled..<filled + got, with: part[..<got])
            filled += got
        }
        return Array(bytes[..<filled])
    }

    private func read(into bytes: inout [UInt8], at offset: Int64) throws(Errno) -> Int {
        var outcome: Result<Int, Errno> = .success(0)
        unsafe bytes.withUnsafeMutableBytes { buffer in
            do throws(Errno) {
                outcome = .success(try unsafe read(into: buffer, at: offset))
            } catch { outcome = .failure(error) }
        }
        return try outcome.get()
    }
}
