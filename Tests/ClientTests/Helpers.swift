import FakeService
import Glibc

func write(_ text: String, to path: String) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0 else { throw FixtureFailure("open \(path)", errno) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
        throw FixtureFailure("write", errno)
    }
}

func contents(of path: String) throws -> String {
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { throw FixtureFailure("open \(path)", errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
        let count = unsafe read(descriptor, &chunk, chunk.count)
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += chunk.prefix(count)
    }
}

func permissions(of path: String) -> UInt32? {
    var found = stat()
    return unsafe stat(path, &found) == 0 ? UInt32(found.st_mode) & 0o7777 : nil
}

/// One word for a shell, whatever is in it: the checkout may lie anywhere.
func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

/// What another program prints.
func capture(_ program: String, _ arguments: [String]) throws -> String {
    let line = ([program] + arguments).map(quoted).joined(separator: " ")
    guard let stream = unsafe popen(line, "r") else { throw FixtureFailure("popen", errno) }
    var bytes: [UInt8] = []
    while case let byte = unsafe fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    unsafe pclose(stream)
    return String(decoding: bytes, as: UTF8.self)
}

func removeTree(_ folder: String) {
    // Only ever a folder that makeTemporaryFolder() named.
    guard folder.hasPrefix("/tmp/photospool-test.") else { return }
    _ = try? capture("/bin/rm", ["-rf", "--", folder])  // what stays behind hurts no test
}
