internal import ControlAPI
internal import HTTPClient
internal import PhotoModel

extension Command {
    static let undo = Command(
        name: "undo",
        summary: "take a batch back: its photos go to the trash, moved sources come back",
        operands: [Operand(name: "BATCH")],
        options: [Following.noWait],
        details: [
            "The files lie in .photospool/trash of the library from then on, under the names they had. Sources that were"
                + " moved come back to where they lay; those that were deleted cannot. What is dropped again is imported"
                + " again.",
            "Exits with 1 when something could not be taken back.",
        ],
        examples: [.init("photospool undo 7", "what the last card brought, according to `photospool batches`")]
    ) { invocation throws(Failure) in
        let ids = try invocation.ids()
        let following = Following(invocation: invocation, unit: "jobs")
        guard let ended = try following.run(.undo, ["batch": ids.first.map { String($0) } ?? ""]) else { return .ok }
        func count(_ name: String) -> Int { ended.results[name].flatMap { Int($0) } ?? 0 }
        var parts = ["\(Amounts.count(count("trashed"), "photo")) in the trash"]
        if count("returned") > 0 { parts.append("\(Amounts.count(count("returned"), "source")) back in place") }
        if count("deleted_sources") > 0 {
            parts.append("\(Amounts.count(count("deleted_sources"), "source")) had been deleted")
        }
        return try following.report(ended, nothingFound: parts.joined(separator: ", ") + ".")
    }

    static let delete = Command(
        name: "delete",
        summary: "move photos to the trash for good: the same bytes are not imported again",
        operands: [Operand(name: "ID", count: .many)],
        details: [
            "The files lie in .photospool/trash of the library from then on; nothing empties it but you. `photospool"
                + " forget` lets the same bytes in again."
        ]
    ) { invocation throws(Failure) in
        try eachAsset(invocation) { (daemon, id) throws(Failure) in
            try daemon.call(HTTPRequest(.delete, "/v1/assets/\(id)"))
        } said: { id in
            "\(id) is in the trash."
        }
    }

    static let forget = Command(
        name: "forget",
        summary: "let photos that were deleted be imported again",
        operands: [Operand(name: "ID", count: .many)],
        details: ["ID is that of the deleted asset. Its files stay in the trash."]
    ) { invocation throws(Failure) in
        try eachAsset(invocation) { (daemon, id) throws(Failure) in
            try daemon.post("/v1/assets/\(id)/forget")
        } said: { id in
            "\(id) is forgotten: its bytes are welcome again."
        }
    }

    private static func eachAsset(
        _ invocation: Invocation, _ order: (inout Daemon, String) throws(Failure) -> [UInt8],
        said: (String) -> String
    ) throws(Failure) -> ExitStatus {
        var daemon = try invocation.daemon()
        var worst = ExitStatus.ok
        for operand in invocation.operands {
            let id = operand.shown
            do throws(Failure) {
                guard id.utf8.allSatisfy({ $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) })
                else { throw .usage("'\(SafeText.of(id))' is no asset's id.", see: invocation.names) }
                let bytes = try order(&daemon, id)
                if invocation.wantsJSON {
                    invocation.console.print(json: bytes)
                } else {
                    invocation.console.say(said(id))
                }
            } catch {
                if invocation.operands.count == 1 || error.status == .unreachable { throw error }
                Shell.report(error, invocation.console, asJSON: invocation.wantsJSON)
                worst = error.status
            }
        }
        return worst
    }
}
