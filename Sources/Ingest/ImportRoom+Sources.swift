import PhotoModel
import Store

/// What is owed to sources after their import, and sources that are away. On the thread for sources.
extension ImportRoom {
    /// Does what is owed: of imports just made, by a process that died, or while a drop folder was away. A drop folder that
    /// does not answer keeps its own waiting, and nobody else's.
    func disposePending() throws(Problem) {
        guard let library = keeper.library, takeMirrorNews() else { return }
        let pending = try rooms.store.pendingDispositions(onMirror: signals.needsMirror())
        let step = DispositionStep(
            library: library, store: rooms.store, now: rooms.now, log: rooms.log, needsMirror: signals.needsMirror)
        let drops = settings().drops
        for drop in drops where drop.afterImport != .keep || pending.contains(where: { $0.drop == drop.name }) {
            if !isSilent(drop.name) { try step.finishClaims(in: drop) }
        }
        for job in pending where !isSilent(job.drop) {
            if let drop = drops.first(where: { $0.name == job.drop }) {
                try step.run(job, drop: drop)
            } else {
                try step.giveUp(job)
            }
        }
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
