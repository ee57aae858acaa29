package import Files
internal import Glibc
package import PhotoModel

/// The configuration as it lies on disk: one main file, and drop-ins over it. DESIGN section 9.
package enum ConfigurationFile {
    /// Reads and checks everything, and refuses all of it when anything is wrong.
    ///
    /// - Parameters:
    ///   - main: `photospool.toml`.
    ///   - mustExist: false takes an absent main file for an empty one, that is for the defaults.
    ///   - dropIns: a folder whose `*.toml` are read after the main file in the order of their names' bytes; later ones
    ///     win, and a `[[drop]]` with a name that exists changes that drop. An absent folder is an empty one.
    ///   - defaults: what holds where the files are silent; see ``Locations/defaults``.
    /// - Throws: every fault there is, sorted by file and place. A file that is not TOML shows its first one only.
    package static func load(
        main: Path, mustExist: Bool, dropIns: Path?, defaults: Settings = Settings()
    ) throws(ConfigurationFaults) -> Settings {
        try load(main: main, mustExist: mustExist, dropIns: dropIns, defaults: defaults, groups: .system)
    }

    static func load(
        main: Path, mustExist: Bool, dropIns: Path?, defaults: Settings, groups: GroupNames
    ) throws(ConfigurationFaults) -> Settings {
        var reader = SettingsReader(defaults: defaults, groups: groups)
        var order: [Path] = [main]
        read(main, mustExist: mustExist, into: &reader)
        if let dropIns {
            do throws(Errno) {
                order += try files(in: dropIns)
            } catch {
                order.append(dropIns)
                reader.unreadable(dropIns, error)
            }
            for file in order.dropFirst() where file != dropIns { read(file, mustExist: true, into: &reader) }
        }
        reader.checkTogether()
        guard reader.faults.isEmpty else {
            throw ConfigurationFaults(faults: sorted(reader.faults, order))
        }
        var settings = reader.settings
        settings.drops = reader.drafts.map(\.folder)
        return settings
    }

    private static func sorted(_ faults: [ConfigurationFault], _ order: [Path]) -> [ConfigurationFault] {
        let keyed = faults.enumerated().map { position, fault in
            (
                [
                    order.firstIndex(of: fault.file) ?? order.count, fault.line ?? 0, fault.column ?? 0, position,
                ], fault
            )
        }
        return keyed.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }

    private static func read(_ file: Path, mustExist: Bool, into reader: inout SettingsReader) {
        let text: [UInt8]
        do throws(Errno) {
            text = try contents(of: file)
        } catch {
            if error == .noEntry, !mustExist { return }
            return reader.unreadable(file, error)
        }
        do throws(TOMLFault) {
            reader.read(try TOMLDocument(text).members(), from: file)
        } catch {
            reader.fault(
                "", "is not TOML: " + error.reason, hint: "the rest of the file was not looked at",
                at: Origin(file: file, place: error.place))
        }
    }

    /// The `*.toml` in a folder by the bytes of their names, without hidden ones.
    package static func files(in folder: Path) throws(Errno) -> [Path] {
        guard let stream = unsafe folder.withCString({ unsafe opendir($0) }) else {
            if Errno.last == .noEntry { return [] }
            throw .last
        }
        defer { unsafe closedir(stream) }
        var names: [Path] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe Path(bytes: bytes.prefix { $0 != 0 })
            }
            if name.lowercaseExtension == "toml", name.bytes.first != UInt8(ascii: ".") { names.append(name) }
        }
        guard errno == 0 else { throw .last }
        return names.sorted().map { folder / $0 }
    }

    /// More than any configuration has; a wrong `--config` is not to fill the memory.
    private static let mostBytes = 1 << 20

    private static func contents(of file: Path) throws(Errno) -> [UInt8] {
        // Non-blocking, so that a pipe in the wrong place does not hold up the start.
        let descriptor = unsafe file.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw .last }
        defer { _ = close(descriptor) }  // only read from
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
        guard status.st_mode & S_IFMT != S_IFDIR else { throw Errno(rawValue: EISDIR) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Errno(rawValue: EINVAL) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { return text }
            text += buffer.prefix(count)
            guard text.count <= mostBytes else { throw Errno(rawValue: EFBIG) }
        }
    }
}

extension SettingsReader {
    fileprivate mutating func unreadable(_ file: Path, _ errno: Errno) {
        faults.append(
            ConfigurationFault(
                file: file, line: nil, column: nil, key: "", sentence: "cannot be read: \(errno.description)",
                hint: nil))
    }
}
