internal import PhotoModel

/// The words after the program's name, as bytes: a file's name need not be UTF-8, and `CommandLine.arguments` would
/// repair it.
func commandLine() -> [Path] {
    var words: [Path] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
        guard let word = unsafe CommandLine.unsafeArgv[index] else { break }
        words.append(unsafe Path(bytes: bytes(of: word)))
    }
    return words
}

private func bytes(of word: UnsafePointer<CChar>) -> [UInt8] {
    var bytes: [UInt8] = []
    var next = unsafe word
    while unsafe next.pointee != 0 {
        bytes.append(UInt8(bitPattern: unsafe next.pointee))
        unsafe next += 1
    }
    return bytes
}
