internal import Config
internal import ControlAPI
internal import Files
internal import Glibc
internal import PhotoModel

extension Command {
    static let config = Command(
        name: "config",
        summary: "check or show the configuration",
        details: [
            "Reads the files itself, so the service need not run. Without --config it is the user's own"
                + " photospool.toml when there is one, else /etc/photospool/photospool.toml, with the drop-ins beside it."
        ],
        children: [
            Command(
                name: "check", summary: "say whether the configuration is valid, or all that is wrong with it",
                options: [.config],
                details: ["Exits with 78 when it is not valid."],
                examples: [.init("photospool config check && photospool reload", "after an edit")],
                run: { invocation throws(Failure) in try check(invocation) }),
            Command(
                name: "show", summary: "show every setting in force, defaults included, as TOML",
                options: [.config],
                run: { invocation throws(Failure) in try show(invocation) }),
            Command(
                name: "cat", summary: "print the files the configuration comes from",
                options: [.config],
                run: { invocation throws(Failure) in try cat(invocation) }),
        ])

    private static func check(_ invocation: Invocation) throws(Failure) -> ExitStatus {
        let (files, settings) = try configuration(invocation)
        if invocation.wantsJSON {
            invocation.console.print(
                json: try Daemon.encode(["state": "valid", "file": files.main.shown]))
        } else {
            invocation.console.say(
                "\(SafeText.of(files.main)) is valid: \(Amounts.count(settings.drops.count, "drop folder")), library "
                    + "\(SafeText.of(settings.library.path)).")
        }
        return .ok
    }

    private static func show(_ invocation: Invocation) throws(Failure) -> ExitStatus {
        let tables = SettingsTables(try configuration(invocation).settings)
        if invocation.wantsJSON {
            invocation.console.print(json: try Daemon.encode(tables))
        } else {
            for line in tables.toml { invocation.console.print(SafeText.of(line, limit: .max)) }
        }
        return .ok
    }

    private static func cat(_ invocation: Invocation) throws(Failure) -> ExitStatus {
        let files = ConfigurationPlace(option: invocation.options["config"]?.last)
        let console = invocation.console
        let found = files.all
        guard !found.isEmpty else {
            throw Failure(
                .configuration, code: Problem.Code.config.rawValue, title: Problem.Code.config.title,
                "There is no configuration at \(SafeText.of(files.main)).")
        }
        for (position, file) in found.enumerated() {
            let bytes = try contents(of: file)
            if position > 0 { console.print() }
            console.print(console.style(.faint, "# \(SafeText.of(file))"))
            // As it is, but for what could steer the terminal; a configuration is text.
            let text = String(decoding: bytes, as: UTF8.self)
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast(
                text.hasSuffix("\n") ? 1 : 0)
            {
                console.print(
                    line.split(separator: "\t", omittingEmptySubsequences: false).map {
                        SafeText.of(String($0), limit: .max)
                    }.joined(separator: "\t"))
            }
        }
        return .ok
    }

    private static func contents(of file: Path) throws(Failure) -> [UInt8] {
        do throws(Errno) {
            let number = unsafe file.withCString { unsafe open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
            guard number >= 0 else { throw .last }
            return try Descriptor(adopting: number).readAll(limit: 1 << 20)
        } catch {
            throw Failure(
                .configuration, code: Problem.Code.config.rawValue, title: Problem.Code.config.title,
                "Could not read \(SafeText.of(file)): \(error.description).")
        }
    }

    /// The checked settings, or every fault on a line of its own.
    static func configuration(
        _ invocation: Invocation
    ) throws(Failure) -> (files: ConfigurationPlace, settings: Settings) {
        let files = ConfigurationPlace(option: invocation.options["config"]?.last)
        do throws(ConfigurationFaults) {
            let settings = try ConfigurationFile.load(
                main: files.main, mustExist: true, dropIns: files.dropIns, defaults: files.defaults)
            return (files, settings)
        } catch {
            let parts = error.faults.map { fault in Problem(.config, fault.description, todo: "") }
            let count = parts.count == 1 ? "a fault" : "\(parts.count) faults"
            throw Failure(
                .configuration, code: Problem.Code.config.rawValue, title: Problem.Code.config.title,
                "The configuration has \(count).", parts: parts.map { .init($0) })
        }
    }
}

extension Option {
    static let config = Option("config", value: "FILE", "read this file instead", completion: .files)
}

/// Which files the configuration comes from.
struct ConfigurationPlace {
    var main: Path
    /// Nil with `--config`: then the one file is all there is.
    var dropIns: Path?
    var defaults: Settings
    /// Where the service of these files keeps its state, unless it is told otherwise.
    var stateDirectory: Path

    init(option: Path?) {
        var locations = Locations.own
        if !exists(locations.configuration), exists(Locations.system.configuration) { locations = .system }
        main = option ?? locations.configuration
        dropIns = option == nil ? locations.dropIns : nil
        defaults = locations.defaults
        stateDirectory = locations.stateDirectory
    }

    /// Those that are there, in the order they are read.
    var all: [Path] {
        var files = exists(main) ? [main] : []
        guard let dropIns else { return files }
        var names: [Path] = []
        do throws(Errno) {
            try Folder(opening: dropIns).forEachEntry { name, _ in
                if name.lowercaseExtension == "toml", name.bytes.first != UInt8(ascii: ".") { names.append(name) }
                return true
            }
        } catch {
            return files  // no drop-ins, or none that may be seen: `config check` says which
        }
        files += names.sorted().map { dropIns / $0 }
        return files
    }
}

extension Locations {
    /// Those of whoever runs this program.
    static var own: Locations {
        var variables: [String: String] = [:]
        for name in [
            "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "CONFIGURATION_DIRECTORY",
            "STATE_DIRECTORY", "RUNTIME_DIRECTORY",
        ] { variables[name] = environment(name) }
        return .default(forUser: geteuid(), environment: variables)
    }
}

func exists(_ path: Path) -> Bool { unsafe path.withCString { unsafe access($0, F_OK) } == 0 }

func isReadable(_ path: Path) -> Bool { unsafe path.withCString { unsafe access($0, R_OK) } == 0 }
