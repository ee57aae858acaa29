import Glibc
import PhotoModel

/// A folder of the test's own, gone afterwards.
func withTemporaryFolder<Result>(_ body: (Path) throws -> Result) throws -> Result {
    var template = Array("/tmp/photospool-config-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw TestSetup(what: "mkdtemp", errno: errno) }
    let folder = Path(bytes: template.dropLast().map { UInt8(bitPattern: $0) })
    defer { remove(folder) }
    return try body(folder)
}

struct TestSetup: Error {
    var what: String
    var errno: Int32
}

func write(_ text: String, to path: Path) throws {
    let descriptor = unsafe path.withCString { unsafe open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
    guard descriptor >= 0 else { throw TestSetup(what: "open \(path.shown)", errno: errno) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
    guard written == bytes.count else { throw TestSetup(what: "write \(path.shown)", errno: errno) }
}

func makeFolder(_ path: Path) throws {
    guard unsafe path.withCString({ unsafe mkdir($0, 0o755) }) == 0 else {
        throw TestSetup(what: "mkdir \(path.shown)", errno: errno)
    }
}

func makeLink(_ path: Path, to target: Path) throws {
    guard unsafe path.withCString({ link in unsafe target.withCString { unsafe symlink($0, link) } }) == 0 else {
        throw TestSetup(what: "symlink \(path.shown)", errno: errno)
    }
}

/// Depth first, following no link; a file left behind in /tmp fails no test.
private func remove(_ path: Path) {
    if let stream = unsafe path.withCString({ unsafe opendir($0) }), !isLink(path) {
        var names: [Path] = []
        while let entry = unsafe readdir(stream) {
            names.append(
                unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Path(bytes: $0.prefix { $0 != 0 }) })
        }
        unsafe closedir(stream)
        for name in names where name != Path(".") && name != Path("..") { remove(path / name) }
    }
    _ = unsafe path.withCString { unsafe Glibc.remove($0) }
}

private func isLink(_ path: Path) -> Bool {
    var status = stat()
    return unsafe path.withCString { unsafe lstat($0, &status) } == 0 && status.st_mode & S_IFMT == S_IFLNK
}

func contents(of path: Path) throws -> [UInt8] {
    let descriptor = unsafe path.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw TestSetup(what: "open \(path.shown)", errno: errno) }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else { throw TestSetup(what: "read \(path.shown)", errno: errno) }
    return Array(buffer.prefix(count))
}
