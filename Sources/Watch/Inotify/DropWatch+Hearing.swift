import Files
import PhotoModel

/// What is done when events do not arrive: folders are polled, and it is said.
///
/// ``SelfTest`` finds out whether the kernel tells of anything at all. Whether it tells of the files of one filesystem
/// (an overlay that is changed from below, a share with `watch = "inotify"`) shows only there: a scan finds a file that
/// was made while its folder was watched, no event has told of it when it has settled, and the queue has never had it.
extension DropWatch {
    /// Whether a file that a listing finds in `node` now must have been told of by an event.
    func expectsEvents(in node: FolderNode) -> Bool {
        node.watch >= 0 && node.listedWatched > max(context.loss, node.loss)
    }

    /// A file has settled that a listing found and no event told of.
    func doubtEvents(_ name: Path, in node: FolderNode) {
        guard context.isDrained, expectsEvents(in: node), let volume = node.volume, !volume.isDeaf else { return }
        do throws(Problem) {
            // Of a new version of a known file no event need tell: its time alone may have been set.
            if try context.door.knowsPath(settings.name, volume.id, absolute(node) / name) { return }
        } catch {
            return  // the state says nothing now; another file will show it
        }
        volume.isDeaf = true
        say(.warning, "A file appeared and no event told of it.", [("PATH", SafeText.of(absolute(node) / name))])
        pollEverything { $0.volume === volume }
    }

    /// Takes the watches from all folders, or from those that are meant, and reads them by the clock instead.
    func pollEverything(where isMeant: (FolderNode) -> Bool = { _ in true }) {
        guard let root else { return }
        rescans += 1
        var rest = [root]
        while let node = rest.popLast() {
            rest += node.children.values
            guard node.watch >= 0, isMeant(node) else { continue }
            unwatch(node)
            setPolled(node, true)
            reportDeaf(node)
        }
        nextPoll = .now
    }

    func reportDeaf(_ node: FolderNode) {
        report(
            .watchLimit,
            context.isDeaf
                ? "The kernel does not tell of new files; the drop folder \(settings.name) is polled."
                : "No events come from the filesystem of \(SafeText.of(absolute(node))); it is polled.",
            todo: "Nothing; files there are found every poll_interval. To be sure of it, set watch = \"poll\".")
    }

    /// Somebody asks for a new beginning.
    func trustEvents() {
        guard let root else { return }
        var rest = [root]
        while let node = rest.popLast() {
            rest += node.children.values
            node.volume?.isDeaf = false
        }
    }
}
