import PhotoModel

/// Folders that no event tells of: read again every `poll_interval`.
///
/// A file found there is looked at by itself once more after the settle time, through an open descriptor, which makes a
/// network filesystem ask its server. So it is handed over within `poll_interval` and the settle time.
extension DropWatch {
    /// What is to be done by the clock.
    func keepTime(at now: Moment) {
        if now >= nextRootLook { lookForRoot(at: now) }
        guard let root else { return }
        if now >= nextRescan {
            lookForRoot(at: now)
            startFullScan(at: now)
        } else if now >= nextPoll, !hasScanWork {
            lookForRoot(at: now)
            guard self.root === root else { return }
            // Set again once everything has been read.
            nextPoll = .never
            enlistPolled(below: root)
        }
    }

    /// When ``keepTime(at:)`` has something to do next.
    var nextTime: Moment { min(nextRootLook, root == nil ? .never : min(nextRescan, hasScanWork ? .never : nextPoll)) }

    private func enlistPolled(below root: FolderNode) {
        var rest = [root]
        while let node = rest.popLast() {
            rest += node.children.values
            if node.isPolled { enlist(node, .own, isUrgent: false) }
        }
    }
}
