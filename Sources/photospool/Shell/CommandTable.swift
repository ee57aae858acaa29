/// All there is to say on the command line.
enum CommandTable {
    /// In the order of the help, most used first.
    static let groups: [(title: String, commands: [Command])] = [
        ("Looking", [.status, .watch, .jobs, .job, .batches, .batch, .assets, .show, .export]),
        ("Working", [.importing, .retry, .cancel, .pause, .resume, .rescan, .reload]),
        (
            "Looking after the library",
            [.verify, .manifest, .backup, .rebuild, .adopt, .previews, .sweep, .undo, .delete, .forget, .operations]
        ),
        ("Setting up", [.initialise, .doctor, .config, .template, .completions, .help]),
    ]

    static var commands: [Command] { groups.flatMap(\.commands) }

    /// Good before and after any command.
    static let everywhere = [
        Option(
            "socket", value: "PATH", "talk to the service at this socket (or set PHOTOSPOOL_SOCKET)",
            completion: .files),
        Option("json", "print JSON, errors too"),
        Option(
            "color", value: "WHEN", "auto, always or never; NO_COLOR is obeyed",
            completion: .words(Console.Colour.allCases.map(\.rawValue))),
        Option("no-progress", "draw no progress bars"),
        Option("quiet", letter: "q", "print only what was asked for, and errors"),
        Option("help", letter: "h", "show help and exit"),
        Option("version", "print the version and exit"),
    ]
}
