import Config
import Files
import Glibc
import PhotoModel

/// Where this process reads its configuration from, at start and at every reload.
struct ConfigurationSource: Sendable {
    /// Everything that is wrong with it.
    struct Refusal: Error {
        var text: String
        var problem: Problem
    }

    let main: Path
    let isNamed: Bool
    let dropIns: Path?
    let stateDirectory: Path
    let defaults: Settings

    init(options: Options) {
        let locations = Locations.default(forUser: getuid(), environment: Self.environment())
        main = options.configuration.map(Self.absolute) ?? locations.configuration
        isNamed = options.configuration != nil
        dropIns = isNamed ? nil : locations.dropIns
        stateDirectory = options.stateDirectory.map(Self.absolute) ?? locations.stateDirectory
        defaults = locations.defaults
    }

    func load() throws(Refusal) -> Settings {
        let settings: Settings
        do throws(ConfigurationFaults) {
            settings = try ConfigurationFile.load(
                main: main, mustExist: isNamed, dropIns: dropIns, defaults: defaults)
        } catch {
            throw Refusal(text: error.description, problem: error.problem)
        }
        let overlaps = OverlapCheck.problems(
            // The watcher asks again, on a thread of that drop's own, when it opens one.
            settings: settings, stateDirectory: stateDirectory, askingServers: false)
        if let first = overlaps.first {
            let text = overlaps.map { "\(SafeText.of(main)): \($0.code.rawValue): \($0.whatHappened) \($0.whatToDo)" }
            throw Refusal(text: text.joined(separator: "\n"), problem: first)
        }
        return settings
    }

    private static func absolute(_ path: Path) -> Path {
        if path.isAbsolute { return path }
        guard let here = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(here) }
        return unsafe Path(bytes: UnsafeRawBufferPointer(start: here, count: strlen(here))) / path
    }

    private static func environment() -> [String: String] {
        var found: [String: String] = [:]
        let names = [
            "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "CONFIGURATION_DIRECTORY",
            "STATE_DIRECTORY", "RUNTIME_DIRECTORY",
        ]
        for name in names {
            if let value = unsafe getenv(name) { found[name] = unsafe String(cString: value) }
        }
        return found
    }
}
