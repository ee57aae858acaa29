import Files
package import PhotoModel
package import Store

/// Sources that were claimed when the state was lost: they lie in a drop's private folder, where nobody looks, and only the
/// library's journal still knows their names. They get them back; whatever they hold is then found like anything that comes.
package struct ForgottenClaims {
    let store: Store
    let drops: [DropFolder]

    package init(store: Store, drops: [DropFolder]) {
        self.store = store
        self.drops = drops
    }

    /// The journal ids of all claims that lie in the drop folders; of one that is away there are none.
    package var ids: Set<Int64> { drops.reduce(into: []) { $0.formUnion(Self.left(in: $1)) } }

    /// - Returns: the names that were given back, and those that could not be.
    package func putBack(by index: JournalIndex) throws(Problem) -> (done: [Path], failed: [Path]) {
        var (done, failed): ([Path], [Path]) = ([], [])
        for drop in drops {
            for id in Self.left(in: drop) {
                guard let path = index.claimed(id), let relative = path.below(drop.path) else { continue }
                // What this state itself knows of is finished, or put back, when work goes on.
                if try store.journalSubject(id)?.path == path { continue }
                do throws(Errno) {
                    try SourceClaims(drop: drop.path).putBack(id, to: relative)
                    done.append(path)
                } catch _ {  // told by its name
                    failed.append(path)
                }
            }
        }
        return (done, failed)
    }

    /// Claims that nobody is at work on: of a source that this state does not know, or of which nothing is owed any more.
    /// - Returns: where each lies, and the name that it had if that is known.
    package func stale() throws(Problem) -> [(claim: Path, source: Path?)] {
        var found: [(claim: Path, source: Path?)] = []
        for drop in drops {
            for id in Self.left(in: drop) {
                let subject = try store.journalSubject(id)
                var job: Job?
                if let subject { job = try store.job(subject.job) }
                // Looked at once more: it may just have come to its end.
                if job?.disposition == .pending || !Self.left(in: drop).contains(id) { continue }
                found.append((drop.path / SourceClaims.name(id), subject?.path))
            }
        }
        return found
    }

    private static func left(in drop: DropFolder) -> [Int64] {
        do throws(Errno) { return try SourceClaims.left(in: drop.path) } catch { return [] }  // none, or it is away
    }
}
