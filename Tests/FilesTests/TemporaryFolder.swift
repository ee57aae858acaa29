import Files
import Glibc
import PhotoModel

/// A folder that a test has to itself, gone afterwards. A class, so that the closures of expectations can hold it.
final class TemporaryFolder: Sendable {
    let path: Path
    let folder: Folder

    /// - Parameter parent: an absolute folder; `$TMPDIR`, else /tmp.
    init(in parent: Path? = nil) throws {
        let parent = parent ?? Path(unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp")
        path = parent / "files-tests-\(lowercaseHex(randomBytes(8)))"
        try unsafe path.withCString { name throws(Errno) in
            _ = try retryingInterrupted { unsafe mkdir(name, 0o700) }
        }
        folder = try Folder(opening: path)
    }

    deinit {
        // What a test leaves behind harms nobody; the next one has a name of its own.
        try? Folder(opening: path.parent).removeTree(path.name)
    }

    func write(_ bytes: [UInt8], to name: Path) throws {
        try folder.create(name).write(bytes)
    }

    func write(_ text: String, to name: Path) throws { try write(Array(text.utf8), to: name) }

    func read(_ name: Path) throws -> [UInt8] {
        try folder.openForReading(name).readAll(limit: 1 << 26)
    }

    func link(_ name: String, to target: String) throws {
        let place = path / name
        try unsafe place.withCString { place throws(Errno) in
            _ = try retryingInterrupted { unsafe symlink(target, place) }
        }
    }

    func names(at relative: Path = Path("")) throws -> Set<String> {
        var names: Set<String> = []
        try folder.folder(at: relative).forEachEntry { name, _ in
            names.insert(name.shown)
            return true
        }
        return names
    }
}

/// Bytes that look random and are the same every time (xorshift64*).
func noise(_ count: Int, seed: UInt64 = 0x9e37_79b9_7f4a_7c15) -> [UInt8] {
    var state = seed
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        let word = state &* 0x2545_f491_4f6c_dd1d
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    bytes.removeSubrange(count...)
    return bytes
}

/// The digest that coreutils' sha256sum(1) prints for a file: the independent witness.
func sha256sum(_ path: Path) throws -> String {
    var ends: [Int32] = [-1, -1]
    try retryingInterrupted { unsafe pipe(&ends) }
    let reading = Descriptor(adopting: ends[0])
    let number = reading.rawValue
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    unsafe posix_spawn_file_actions_addclose(&actions, ends[0])
    unsafe posix_spawn_file_actions_addclose(&actions, ends[1])
    let words: [String] = ["sha256sum", "--", path.shown]
    let arguments = unsafe words.map { (word: String) -> UnsafeMutablePointer<CChar>? in unsafe strdup(word) }
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    var child = pid_t()
    let code = unsafe posix_spawnp(&child, "sha256sum", &actions, nil, arguments + [nil], environ)
    try Descriptor(adopting: ends[1]).close()
    guard code == 0 else { throw Errno(rawValue: code) }
    var output: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = try retryingInterrupted { unsafe read(number, &piece, piece.count) }
        if count == 0 { break }
        output += piece[..<count]
    }
    var status: Int32 = 0
    try retryingInterrupted { unsafe waitpid(child, &status, 0) }
    // A name with a newline or backslash makes it begin the line with a backslash; ours have none.
    return String(decoding: output.prefix(64), as: UTF8.self)
}
