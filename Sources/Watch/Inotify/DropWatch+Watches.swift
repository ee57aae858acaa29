import Files
import PhotoModel

/// Which folders have a watch.
extension DropWatch {
    /// Opens a folder of the tree, makes sure that it is the one it was, and watches it when it can be.
    ///
    /// What lies in it is to be listed after this: then nothing falls between.
    /// - Returns: nil when the folder is not to be entered.
    func admit(_ node: FolderNode) throws(Errno) -> OpenFolder? {
        let held = try open(node)
        let status = try held.folder.status()
        let (device, inode) = (status.stamp.device, status.stamp.inode)
        if node.inode != 0, node.inode != inode || node.volume?.device != device {
            // Another directory under the same name: removed and made anew, or mounted over. Its files are told apart
            // by their stamps; the folders below are found again.
            unwatch(node)
            setPolled(node, false)
            for child in node.children.values { detach(child) }
        }
        if node.isLoop(device: device, inode: inode) {
            detach(node)
            return nil
        }
        if node.parent != nil, try Self.isLibrary(held) {
            report(
                .overlap,
                "\(SafeText.of(absolute(node))) in the drop folder \(settings.name) is a library or a mirror;"
                    + " it is not looked into.",
                todo: "Nothing, if that is meant; else take the library out of the drop folder.")
            detach(node)
            return nil
        }
        node.inode = inode
        if node.volume?.device != device {
            if let parent = node.parent?.volume, parent.device == device {
                node.volume = parent
            } else {
                // A mount below the drop folder: only root can have put it there, so it is entered.
                let filesystem = try held.folder.filesystem()
                node.volume = Volume(device: device, id: filesystem.id, isRemote: filesystem.isRemote)
            }
        }
        return watch(node, held) ? held : nil
    }

    /// Whose files are originals of somebody, ours or another's: never sources.
    static func isLibrary(_ held: OpenFolder) throws(Errno) -> Bool {
        do throws(Errno) { return try LibraryMarker.isPresent(in: held.folder) } catch {
            // Something else stands under that name, or nobody may look: no library of anybody's who could use it so.
            if [.notDirectory, .loop, .accessDenied, .crossDevice].contains(error) { return false }
            throw error
        }
    }

    /// - Returns: false when the same folder is watched already in another place.
    private func watch(_ node: FolderNode, _ held: OpenFolder) -> Bool {
        if node.watch >= 0 { return true }
        let isRemote = node.volume?.isRemote ?? false
        if isRemote { reportUnknownWriters() }
        guard settings.watch != .poll, settings.watch == .inotify || !isRemote else {
            setPolled(node, true)
            return true
        }
        if context.isDeaf || node.volume?.isDeaf ?? false {
            reportDeaf(node)
            setPolled(node, true)
            return true
        }
        guard let inotify = context.openInotify() else {
            reportNoInotify()
            setPolled(node, true)
            return true
        }
        guard context.watched.count < context.tuning.watchLimit else {
            pollInstead(node, .noSpace)
            return true
        }
        let watch: Int32
        do throws(Errno) {
            watch = try inotify.add(held.folder)
        } catch {
            pollInstead(node, error)
            return true
        }
        if let other = context.watched[watch], other !== node {
            guard isElsewhere(other) else {
                detach(node)
                return false
            }
            // It was renamed, and a listing was quicker than the event. The watch goes with it.
            context.watched[watch] = nil
            other.drop.watches -= 1
            other.watch = -1
            other.drop.detach(other)
        }
        node.watch = watch
        node.listedWatched = 0
        context.watched[watch] = node
        watches += 1
        setPolled(node, false)
        return true
    }

    /// Whether the folder has left the place where it was known.
    private func isElsewhere(_ node: FolderNode) -> Bool {
        do throws(Errno) {
            let status = try node.drop.open(node).folder.status()
            return status.stamp.inode != node.inode || status.stamp.device != node.volume?.device
        } catch {
            return true  // whatever keeps it from being opened, it is of no use there
        }
    }

    func unwatch(_ node: FolderNode) {
        guard node.watch >= 0 else { return }
        context.inotify?.remove(node.watch)
        forgetWatch(of: node)
    }

    /// The kernel has taken the watch away.
    func forgetWatch(of node: FolderNode) {
        guard node.watch >= 0 else { return }
        if context.watched[node.watch] === node { context.watched[node.watch] = nil }
        node.watch = -1
        watches -= 1
    }

    private func pollInstead(_ node: FolderNode, _ error: Errno) {
        if !node.isPolled { rescans += 1 }
        setPolled(node, true)
        if error == .noSpace {
            report(
                .watchLimit,
                "Some folders of the drop folder \(settings.name) cannot be watched, because the limit "
                    + "fs.inotify.max_user_watches is used up; they are polled.")
        } else {
            report(
                .watchLimit,
                "Some folders of the drop folder \(settings.name) cannot be watched: \(error). "
                    + "They are polled.", todo: "Nothing; files there are found every poll_interval.")
        }
    }

    private func reportNoInotify() {
        guard let failure = context.inotifyFailure else { return }
        report(
            .watchLimit, "Nothing can be watched: \(failure). All drop folders are polled.",
            todo: "Raise fs.inotify.max_user_instances with sysctl, then restart; until then the folders are polled.")
    }

    func reportUnknownWriters() {
        report(
            .leaseUnknown,
            "Nobody can say whether a file in the drop folder \(settings.name) is still open for writing.", level: .info
        )
    }
}
