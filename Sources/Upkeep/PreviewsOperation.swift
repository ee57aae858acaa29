import Files
package import Ingest
package import PhotoModel
import Store

/// Makes previews of assets that have none because it failed, or whose preview is not there any more; and the renditions that
/// are configured and not there.
///
/// Arguments: `missing`, `1`, as always; `codes`, with commas between: only of assets whose preview failed with one of these,
/// without a look at the others. The place to go on from is the last asset, with what was counted so far.
package struct PreviewsOperation: Sendable {
    private let rooms: UpkeepRooms
    /// - Throws: why the library is not open.
    private let maker: @Sendable () throws(Problem) -> PreviewMaker

    package init(_ rooms: UpkeepRooms, maker: @escaping @Sendable () throws(Problem) -> PreviewMaker) {
        self.rooms = rooms
        self.maker = maker
    }

    private static let portion = 200
    /// So many are named.
    private static let most = 10_000

    /// How far it has come.
    private struct Place {
        var asset = ""
        var made: Int64 = 0
        var failed: Int64 = 0

        init(_ cursor: String?) {
            let parts = (cursor ?? "").split(separator: "/")
            guard parts.count == 3, let made = Int64(parts[1]), let failed = Int64(parts[2]) else { return }
            self.asset = String(parts[0])
            self.made = made
            self.failed = failed
        }

        var cursor: String { "\(asset)/\(made)/\(failed)" }
    }

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let codes = try run.orEnd { () throws(Problem) in try Self.codes(run.operation.arguments) }
        let maker = try run.orEnd(maker)
        try run.orEnd { () throws(Problem) in
            // A state that has forgotten photos would take theirs for lost.
            try maker.library.checkNotAhead(of: rooms.store)
            try rooms.store.closeInterrupted("preview")
        }
        var place = Place(run.cursor)
        if run.cursor == nil {
            run.restart()
            run.setTotal(
                try run.orEnd { () throws(Problem) in try rooms.store.assetCount(withPreviewFailed: codes) })
        }
        while true {
            let after = place.asset
            let portion = try run.orEnd { () throws(Problem) in
                try rooms.store.assets(after: after, withPreviewFailed: codes, limit: Self.portion)
            }
            if portion.isEmpty { break }
            for asset in portion {
                let isDone = try look(at: asset, maker, &place, run)
                place.asset = asset.id
                run.advance(by: 1)
                try run.reached(place.cursor, recordNow: isDone)
            }
        }
        run.setResult("made", to: String(place.made))
        run.setResult("failed", to: String(place.failed))
    }

    /// - Returns: whether something was done.
    private func look(
        at asset: Asset, _ maker: PreviewMaker, _ place: inout Place, _ run: OperationRun
    ) throws(OperationRun.Ended) -> Bool {
        guard try run.orEnd({ () throws(Problem) in try isMissing(asset, maker) }) else { return false }
        // It may have been deleted, or got one, since its portion was read.
        let present = try run.orEnd { () throws(Problem) in try rooms.store.asset(asset.id) }
        guard let present, present.preview == asset.preview else { return false }
        let made = try run.orEnd { () throws(Problem) in
            try maker.run(present, isCancelled: { run.isEnding })
        }
        guard let made else {
            try run.check()
            return false
        }
        for damage in made.damages {
            run.find(Operation.Finding(damage.kind, path: damage.path, asset: asset.id, damage.sentence))
        }
        switch made.outcome {
        case .made: place.made += 1
        case .failed(let problem):
            place.failed += 1
            if place.failed <= Self.most {
                run.find(
                    Operation.Finding(
                        "failed", path: asset.resources.first?.path, asset: asset.id,
                        "\(problem.code.rawValue): \(problem.whatHappened)"))
            }
        case .damaged: place.failed += 1
        case .nothing: return false
        }
        return true
    }

    private func isMissing(_ asset: Asset, _ maker: PreviewMaker) throws(Problem) -> Bool {
        switch asset.preview.state {
        case .failed: return true
        case .none: return false
        case .ok, .partial: break
        }
        guard let path = asset.preview.path else { return true }
        if try isMissing(path, in: maker.library) { return true }
        for wanted in maker.renditions {
            guard let present = asset.preview.renditions.first(where: { $0.spec == wanted }) else { return true }
            if try isMissing(present.path, in: maker.library) { return true }
        }
        return false
    }

    private func isMissing(_ path: Path, in library: Library) throws(Problem) -> Bool {
        do throws(Errno) {
            let status = try library.root.status(of: path)
            return status.kind != .regular || status.stamp.size == 0
        } catch {
            if [.noEntry, .notDirectory].contains(error) { return true }
            throw .library(path, error, doing: "look at")
        }
    }

    package static func codes(_ arguments: [String: String]) throws(Problem) -> [Problem.Code]? {
        for (name, value) in arguments.sorted(by: { $0.key < $1.key })
        where name != "codes" && !(name == "missing" && value == "1") {
            throw Problem(
                .badRequest,
                "The operation previews has no argument `\(SafeText.of(name, limit: 40))` = "
                    + "`\(SafeText.of(value, limit: 40))`.", todo: "Order it with {\"missing\": \"1\"}.")
        }
        guard let text = arguments["codes"] else { return nil }
        var codes: [Problem.Code] = []
        for word in text.split(separator: ",") {
            guard let code = Problem.Code(rawValue: String(word)) else {
                throw Problem(
                    .badRequest, "There is no code `\(SafeText.of(String(word), limit: 40))`.",
                    todo: "Use those of docs/operations.md, with commas between.")
            }
            codes.append(code)
        }
        return codes
    }
}
