import PhotoModel
import Store

/// What is owed to sources after their import, and sources that are away. On the thread for sources.
extension ImportRoom {
    /// Does what is owed: of imports just made, by a process that died, or while a drop folder was away. A drop folder that
    /// does not answer keeps its own waiting, and nobody else's.
    func disposePending() throws(Problem) {
        guard let library = keeper.library, let news = takeMirrorNews() else { return }
        let step = DispositionStep(
            library: library, store: rooms.store, now: rooms.now, log: rooms.log, needsMirror: signals.needsMirror)
        let drops = settings().drops
        var finished: Set<String> = []
        for drop in drops where drop.afterImport != .keep {
            try finishClaims(in: drop, by: step, once: &finished)
        }
        for asset in news.assets {
            var last: Job.ID = 0
            while true {
                // In portions: a mirror that is away for long, or a drop folder, may leave very many.
                let pending = try rooms.store.pendingDispositions(
                    after: last, of: asset, onMirror: signals.needsMirror())
                guard let end = pending.last else { break }
                last = end.id
                for drop in drops where pending.contains(where: { $0.drop == drop.name }) {
                    try finishClaims(in: drop, by: step, once: &finished)
                }
                for job in pending where !isSilent(job.drop) {
                    if let drop = drops.first(where: { $0.name == job.drop }) {
                        try step.run(job, drop: drop)
                    } else {
                        try step.giveUp(job)
                    }
                }
            }
        }
    }

    private func finishClaims(
        in drop: DropFolder, by step: DispositionStep, once finished: inout Set<String>
    ) throws(Problem) {
        guard !isSilent(drop.name), finished.insert(drop.name).inserted else { return }
        try step.finishClaims(in: drop)
    }

    /// Lets photos go on whose card or share is there again, or never will be: another medium is in its slot.
    func lookForSources() {
        for place in away.all where !isSilent(place.drop) && away.isOver(place) {
            away.remove(place)
            do throws(Problem) {
                try rooms.store.hasten(drop: place.drop, waitingFor: .sourceIO)
            } catch {
                note(error)
            }
            rooms.log(
                LogLine(.info, "A card or share is there again, or another in its place.", [("DROP", place.drop)]))
            bell.ring()
        }
    }

    /// Asked before each touch: a share may fall silent between two.
    private func isSilent(_ drop: String) -> Bool { signals.silentDrops().contains(drop) }
}
