/// A file name or path as Linux keeps it: bytes without NUL, in no particular encoding.
///
/// Equality, order and hashing are by bytes. ``shown`` is for people only; whatever opens, compares or stores a file
/// uses ``bytes``. See path_resolution(7).
package struct Path: Hashable, Sendable, Comparable {
    package var bytes: [UInt8]

    package init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }
    package init(bytes: [UInt8]) { self.bytes = bytes }
    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The path as text: bytes that are not UTF-8 become U+FFFD, so it may not lead back to the file.
    package var shown: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether ``shown`` loses nothing.
    package var isText: Bool { Array(shown.utf8) == bytes }

    package var isEmpty: Bool { bytes.isEmpty }
    package var isAbsolute: Bool { bytes.first == UInt8(ascii: "/") }

    /// The components between slashes, without empty ones; the leading slash of an absolute path is not one.
    package var components: [Path] {
        bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true).map { Path(bytes: $0) }
    }

    /// The last component, or an empty path.
    package var name: Path {
        guard let end = bytes.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return Path(bytes: []) }
        let start = bytes[...end].lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return Path(bytes: bytes[start...end])
    }

    /// Everything before the last component, without the slash: empty for a bare name, `/` for `/name`.
    package var parent: Path {
        guard let end = bytes.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return self }
        guard let slash = bytes[...end].lastIndex(of: UInt8(ascii: "/")) else { return Path(bytes: []) }
        guard let last = bytes[..<slash].lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return Path("/") }
        return Path(bytes: bytes[...last])
    }

    /// The name without its last extension: `IMG_1.CR2` for `IMG_1.CR2.xmp`, `.hidden` for `.hidden`.
    package var stem: Path { Path(bytes: name.bytes[..<extensionStart]) }

    /// The last extension with its dot, as written, or empty: `.HEIC`.
    package var suffix: Path { Path(bytes: name.bytes[extensionStart...]) }

    /// The last extension in lower case without its dot; empty when there is none or it is not ASCII.
    package var lowercaseExtension: String {
        let suffix = suffix.bytes.dropFirst()
        guard suffix.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: suffix, as: UTF8.self).lowercased()
    }

    private var extensionStart: Int {
        let name = name.bytes
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return name.count }
        return dot
    }

    package static func / (directory: Path, name: Path) -> Path {
        if directory.isEmpty { return name }
        if name.isEmpty { return directory }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(directory.bytes.count + 1 + name.bytes.count)
        bytes += directory.bytes
        if bytes.last != UInt8(ascii: "/") { bytes.append(UInt8(ascii: "/")) }
        bytes += name.bytes
        return Path(bytes: bytes)
    }

    package static func / (directory: Path, name: String) -> Path { directory / Path(name) }

    package static func < (left: Path, right: Path) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// What is left of this path below `directory`; nil when it is not below it. Both are taken as written.
    package func below(_ directory: Path) -> Path? {
        let base = directory.components
        let own = components
        guard isAbsolute == directory.isAbsolute, own.count > base.count, Array(own.prefix(base.count)) == base
        else { return nil }
        return own.dropFirst(base.count).reduce(Path(bytes: [])) { $0 / $1 }
    }

    /// Calls `body` with the bytes and a terminating NUL; the pointer is good only inside.
    package func withCString<Result, Failure: Error>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
        var outcome: Swift.Result<Result, Failure>?
        unsafe terminated.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }  // never: the array holds at least the NUL
            do throws(Failure) { outcome = .success(try unsafe body(start)) } catch { outcome = .failure(error) }
        }
        guard let outcome else { preconditionFailure("a non-empty array has an address") }
        return try outcome.get()
    }
}
