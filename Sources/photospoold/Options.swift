import PhotoModel

/// What the command line asks for.
struct Options: Equatable {
    enum Act: Equatable { case run, checkConfiguration, showVersion, showHelp }

    var act = Act.run
    var configuration: Path?
    var stateDirectory: Path?
    /// Import what is there and exit.
    var isOnce = false

    struct Fault: Error, Equatable { var sentence: String }

    init(_ arguments: some Sequence<String>) throws(Fault) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let attached = parts.count == 2 && argument.hasPrefix("--") ? parts[1] : nil
            switch parts[0] {
            case "--config": configuration = try Self.path(attached ?? rest.popFirst(), of: "--config")
            case "--state-dir": stateDirectory = try Self.path(attached ?? rest.popFirst(), of: "--state-dir")
            case "--check-config" where attached == nil: act = .checkConfiguration
            case "--once" where attached == nil: isOnce = true
            case "--version" where attached == nil: act = .showVersion
            case "--help" where attached == nil, "-h" where attached == nil: act = .showHelp
            default: throw Fault(sentence: "unknown argument \(SafeText.of(argument, limit: 100))")
            }
        }
    }

    private static func path(_ value: String?, of option: String) throws(Fault) -> Path {
        guard let value, !value.isEmpty else { throw Fault(sentence: "\(option) needs a path") }
        return Path(value)
    }

    static let help = """
        Usage: photospoold [--config FILE] [--state-dir DIR] [--check-config] [--once] [--version]

        Watches drop folders and imports photos into a library. Runs in the foreground, under systemd or not.

          --config FILE     read this configuration instead of the usual one and its drop-ins
          --state-dir DIR   keep queue and catalog here
          --check-config    name every fault of the configuration and exit: 0 or 78
          --once            import what is there, then exit: 0, 1 a job failed, 75 something is left for later
          --version         print the version and exit
          --help            print this and exit

        Files: /etc/photospool/photospool.toml, /etc/photospool/conf.d/*.toml, /var/lib/photospool,
        /run/photospool/control.sock; an ordinary user's lie below the XDG directories.
        Signals: TERM and INT stop, HUP reloads the configuration.

        """
}
