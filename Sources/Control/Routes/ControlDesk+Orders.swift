import ControlAPI
import HTTP
import PhotoModel

/// What people order of the daemon as a whole.
extension ControlDesk {
    func pause(_ request: Request) throws(Problem) -> Reply {
        try door.orders.pause()
        return state()
    }

    func resume(_ request: Request) throws(Problem) -> Reply {
        try door.orders.resume()
        return state()
    }

    private func state() -> Reply {
        .json(StateBody(state: door.view.state(), reasons: door.view.reasons()))
    }

    func rescan(_ request: Request) throws(Problem) -> Reply {
        let wanted = request.body.isEmpty ? nil : try decode(RescanRequest.self, from: request).drop
        return .json(RescanBody(drops: try door.orders.rescan(wanted)), status: 202)
    }

    func reload(_ request: Request) throws(Problem) -> Reply {
        switch door.orders.reload() {
        case .reloaded(let keys):
            return .json(ReloadBody(applied: keys.applied, needsRestart: keys.needsRestart))
        case .refused(let problems):
            let first =
                problems.first ?? Problem(.config, "The configuration is not valid; the old one stays in force.")
            return first.reply(errors: problems.count > 1 ? problems : [])
        }
    }

    func importPaths(_ request: Request) throws(Problem) -> Reply {
        let order = try decode(ImportRequest.self, from: request)
        guard !order.paths.isEmpty else { throw .bad("There is no path in `paths`.") }
        var paths: [Path] = []
        for asked in order.paths {
            guard let path = asked.value.path, path.isAbsolute else {
                throw .bad(
                    "`\(SafeText.of(asked.value.text, limit: 200))` is not an absolute path.",
                    todo: "Give the whole path, from / on.")
            }
            paths.append(path)
        }
        let outcome = try door.orders.importPaths(paths, order.dryRun)
        let body = ImportBody(
            dryRun: order.dryRun, batch: outcome.batch, queued: outcome.queued, known: outcome.known,
            groups: outcome.groups, ignored: outcome.ignored, refused: outcome.refused.map { ($0.path, $0.problem) })
        return .json(body, status: order.dryRun || outcome.batch == nil ? 200 : 202)
    }

    func decode<Body: Decodable>(_ type: Body.Type, from request: Request) throws(Problem) -> Body {
        do {
            return try JSON.decode(type, from: request.body)
        } catch let error as DecodingError {
            throw .bad(SafeText.of(sentence(about: error)))
        } catch {
            throw .bad("The body is not valid JSON.")
        }
    }
}
