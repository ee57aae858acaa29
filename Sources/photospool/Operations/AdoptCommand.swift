internal import ControlAPI
internal import PhotoModel

extension Command {
    static let adopt = Command(
        name: "adopt",
        summary: "take photos into the catalog that lie in the library already",
        operands: [Operand(name: "PATH", count: .optional, completion: .folders)],
        options: [Following.noWait],
        details: [
            "Files of the library that the catalog does not know, those of PATH and below or all: each shot is read,"
                + " looked at, gets a preview, and is listed where it lies. No file is moved, renamed or written. What comes"
                + " into a drop folder later and holds the same bytes is then recognised. PATH is below the library, or"
                + " absolute. A run that is interrupted goes on at the next start of the service.",
            "Exits with 1 when something was left: bytes that are listed elsewhere, files that changed meanwhile, that"
                + " cannot be read, or are no photos.",
        ],
        examples: [
            .init("photospool adopt", "everything"),
            .init("photospool adopt 2019", "one folder of the library"),
        ]
    ) { invocation throws(Failure) in
        var arguments: [String: String] = [:]
        if let path = invocation.operands.first {
            guard path.isText else {
                throw .usage("PATH has to be UTF-8; name the folder above it.", see: invocation.names)
            }
            arguments["path"] = path.shown
        }
        let following = Following(invocation: invocation, unit: "files")
        guard let ended = try following.run(.adopt, arguments) else { return .ok }
        return try following.report(
            ended,
            nothingFound: "Everything that was looked at is in the catalog: "
                + "\(Amounts.count(Int(ended.done), "file")).",
            found: "These were left as they are.")
    }
}
