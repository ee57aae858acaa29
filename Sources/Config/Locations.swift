package import PhotoModel

/// Where things lie when nobody says otherwise. DESIGN section 9.
package struct Locations: Hashable, Sendable {
    package var configuration: Path
    package var dropIns: Path
    package var stateDirectory: Path
    package var socket: Path

    /// Those of the system's daemon.
    package static let system = Locations(
        configuration: Path("/etc/photospool/photospool.toml"), dropIns: Path("/etc/photospool/conf.d"),
        stateDirectory: Path("/var/lib/photospool"), socket: Path("/run/photospool/control.sock"))

    /// Those of an ordinary user: below `$XDG_CONFIG_HOME`, `$XDG_STATE_HOME` and `$XDG_RUNTIME_DIR`, with the defaults
    /// of the XDG Base Directory Specification where these are unset or relative. Without a runtime directory the socket
    /// lies in the state directory, which is as private. nil without an absolute `$HOME` to fall back on.
    package static func user(environment: [String: String]) -> Locations? {
        let home = absolute(environment["HOME"])
        guard let config = absolute(environment["XDG_CONFIG_HOME"]) ?? home.map({ $0 / ".config" }),
            let state = absolute(environment["XDG_STATE_HOME"]) ?? home.map({ $0 / ".local/state" })
        else { return nil }
        let ownState = state / "photospool"
        return Locations(
            configuration: config / "photospool/photospool.toml", dropIns: config / "photospool/conf.d",
            stateDirectory: ownState,
            socket: absolute(environment["XDG_RUNTIME_DIR"]).map { $0 / "photospool/control.sock" }
                ?? ownState / "control.sock")
    }

    /// Those of the process: root's are the system's, everybody else has their own; what a service manager hands over
    /// in `$CONFIGURATION_DIRECTORY`, `$STATE_DIRECTORY` and `$RUNTIME_DIRECTORY` (systemd.exec(5)) comes before both,
    /// and makes an unprivileged service a system's daemon.
    package static func `default`(forUser uid: UInt32, environment: [String: String]) -> Locations {
        let configuration = first(environment["CONFIGURATION_DIRECTORY"])
        let state = first(environment["STATE_DIRECTORY"])
        let runtime = first(environment["RUNTIME_DIRECTORY"])
        let isService = uid == 0 || configuration != nil || state != nil || runtime != nil
        var locations = isService ? system : user(environment: environment) ?? system
        if let configuration {
            locations.configuration = configuration / "photospool.toml"
            locations.dropIns = configuration / "conf.d"
        }
        if let state { locations.stateDirectory = state }
        if let runtime { locations.socket = runtime / "control.sock" }
        return locations
    }

    /// The defaults of the configuration for whoever lives here.
    package var defaults: Settings {
        var settings = Settings()
        settings.control.socket = socket
        return settings
    }

    private static func absolute(_ text: String?) -> Path? {
        guard let text, text.hasPrefix("/") else { return nil }
        return Path(text)
    }

    /// systemd joins several directories with colons; the first is the main one.
    private static func first(_ text: String?) -> Path? {
        absolute(text?.split(separator: ":").first.map(String.init))
    }
}
