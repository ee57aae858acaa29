import Ingest
import PhotoModel
import Store

/// The files of one folder, shot by shot.
struct FolderAdoption {
    let store: Store
    let adoption: Adoption
    let run: OperationRun

    /// - Parameter names: all files of the folder: those that are listed show which shot a stray one belongs to.
    func adopt(_ folder: Path, _ names: [Path]) throws(OperationRun.Ended) {
        let owners = try run.orEnd { () throws(Problem) in try store.owners(of: names.map { folder / $0 }) }
        let stems = Dictionary(grouping: names.indices) { ShotName(names[$0].name).stem }
        for stem in stems.keys.sorted() {
            let places = stems[stem] ?? []
            for group in Grouping.groups(of: places.map { names[$0] }) {
                try run.check()
                let members = group.map { Grouping.Member(index: places[$0.index], role: $0.role) }
                let strays = members.filter { owners[$0.index] == nil }
                if !strays.isEmpty {
                    try adopt(strays, beside: Set(members.compactMap { owners[$0.index] }), folder, names)
                }
                run.advance(by: Int64(members.count))
            }
        }
    }

    private func adopt(
        _ group: [Grouping.Member], beside assets: Set<Asset.ID>, _ folder: Path, _ names: [Path]
    ) throws(OperationRun.Ended) {
        var shot: [Adoption.Stray] = []
        for member in group {
            let path = folder / names[member.index]
            if try run.orEnd({ () throws(Problem) in try store.expects(path) }) { continue }
            shot.append(Adoption.Stray(path: path, role: member.role))
        }
        if shot.isEmpty { return }
        let outcome = try run.orEnd { () throws(Problem) -> Adoption.Outcome? in
            // Beside several nobody can tell which one it belongs to.
            try adoption.run(shot, beside: assets.count == 1 ? assets.first : nil, isCancelled: { run.isEnding })
        }
        guard let outcome else { return try run.check() }
        for refusal in outcome.refused {
            run.find(Operation.Finding(refusal.kind.rawValue, path: refusal.path, refusal.sentence))
        }
    }
}
