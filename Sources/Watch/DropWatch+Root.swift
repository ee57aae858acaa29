import Files
import PhotoModel

/// Whether the drop folder itself is there, and the same one as before.
extension DropWatch {
    /// Looks where the path leads now. A folder that appeared is scanned; one that was replaced, mounted over or taken
    /// away is let go with everything known about it, which loses nothing: the store knows what was handed over.
    func lookForRoot(at now: Moment) {
        nextRootLook = .never
        letGo()
        do throws(Errno) {
            let folder = try Folder(opening: settings.path)
            let status = try folder.status()
            if let root, let rootStatus, rootStatus.isSameFile(as: status) {
                // Another card in the same slot has a root of the same numbers.
                if try folder.filesystem().id == root.volume?.id {
                    nextRootLook = now + context.tuning.rootCheck
                    return
                }
            }
            loseRoot(at: now, because: "Another folder has taken the place of the drop folder.")
            if let objection = try objection(to: folder) {
                nextRootLook = now + context.tuning.rootCheck
                report(objection.code, objection.whatHappened, todo: objection.whatToDo, level: .error)
                return
            }
            try findRoot(folder, status, at: now)
        } catch {
            loseRoot(at: now, because: "The drop folder is gone.")
            nextRootLook = now + context.tuning.rootGap
            switch error {
            case .noEntry, .notDirectory, .noDevice, .stale:
                reasons[.sourcePermission] = nil
                reasons[.sourceIO] = nil
            case .accessDenied, .notPermitted:
                report(.sourcePermission, "Could not open the drop folder \(SafeText.of(settings.path)): \(error).")
            default: report(.sourceIO, "Could not open the drop folder \(SafeText.of(settings.path)): \(error).")
            }
            if !hasSaidWaiting {
                hasSaidWaiting = true
                say(
                    .info, "The drop folder is not there; it is used as soon as it is.",
                    [("PATH", SafeText.of(settings.path))])
            }
        }
    }

    /// What leads into the library must not be taken for a drop folder: its originals would be sources, and be disposed
    /// of. The configuration was checked for it; a link or a mount can bring it about later.
    private func objection(to folder: borrowing Folder) throws(Errno) -> Problem? {
        if try LibraryMarker.isPresent(in: folder) {
            return Problem(
                .overlap,
                "The drop folder \(SafeText.of(settings.path)) leads to a library or a mirror; nothing is taken"
                    + " from there.",
                todo: "Correct the link or mount, or the configuration; it is looked at again by itself.")
        }
        return context.door.objection(settings.name)
    }

    private func findRoot(_ folder: borrowing Folder, _ status: FileStatus, at now: Moment) throws(Errno) {
        let node = FolderNode(Path(bytes: []), in: nil, of: self, seen: context.nextListing())
        let filesystem = try folder.filesystem()
        node.volume = Volume(device: status.stamp.device, id: filesystem.id, isRemote: filesystem.isRemote)
        root = node
        rootStatus = status
        realPath = MountNews.realPath(of: folder) ?? settings.path
        reasons = [:]
        if status.isWorldWritable {
            report(
                .dropOpen, "Anybody on this machine can put files into the drop folder \(SafeText.of(settings.path)).")
        }
        if hasSaidWaiting { say(.info, "The drop folder is there.", [("PATH", SafeText.of(settings.path))]) }
        hasSaidWaiting = false
        nextRootLook = now + context.tuning.rootCheck
        startFullScan(at: now)
    }

    func loseRoot(at now: Moment, because sentence: String) {
        guard let root else { return }
        say(.warning, sentence, [("PATH", SafeText.of(settings.path))])
        rescans += 1
        forgetTree()
        detach(root)
        self.root = nil
        nextRootLook = now
    }

    /// Something was mounted or unmounted there: what was known below is found again, if it is there.
    func forgetMount(at point: Path) {
        guard let below = point.below(realPath), let node = root?.descendant(below) else { return }
        detach(node)
    }

    private func forgetTree() {
        letGo()
        rootStatus = nil
        pending = []
        urgent = []
        listings = []
        isFullScan = false
        wantsFullScan = false
        scanFaults = [:]
        nextRescan = .never
        nextPoll = .never
    }

    /// For a drop folder that is no longer configured, or at the end.
    func close() {
        forgetTree()
        if let root { detach(root) }
        root = nil
    }
}
