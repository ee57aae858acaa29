import Files
import PhotoModel

/// Reading what lies in the folders: at the start, after something was missed, for safety now and then, and for new
/// folders. In slices, between which events are drained.
extension DropWatch {
    var hasScanWork: Bool { !listings.isEmpty || !pending.isEmpty || !urgent.isEmpty }

    func startFullScan(at now: Moment) {
        guard let root else {
            nextRootLook = now
            return
        }
        // What it has read already may be what was missed, so it begins again at the end.
        if isFullScan {
            wantsFullScan = true
            return
        }
        isFullScan = true
        scanFaults = [:]
        nextRescan = .never
        enlist(root, .full, isUrgent: false)
    }

    /// An event told of a file, and so much is to settle already that memory for one more is not spent: the folder is
    /// listed as soon as there is room, and that finds it.
    func leaveOut(in node: FolderNode) {
        node.loss = context.nextListing()
        node.hasBeenListed = false
        node.listedBelow = nil
        setBehind(node, true)
        enlist(node, .own, isUrgent: false)
    }

    func setBehind(_ node: FolderNode, _ isBehind: Bool) {
        guard node.isBehind != isBehind else { return }
        node.isBehind = isBehind
        behind += isBehind ? 1 : -1
    }

    func enlist(_ node: FolderNode, _ kind: FolderNode.Pending, isUrgent: Bool) {
        guard !node.isDetached else { return }
        let isListed = node.pending != .none
        if node.pending.rawValue < kind.rawValue { node.pending = kind }
        // In both lists at worst: the second time nothing is pending any more.
        if isUrgent { urgent.append(node) } else if !isListed { pending.append(node) }
    }

    /// Reads names until there are no more, or `end` has come, or too much was found that has to settle first.
    func scan(until end: Moment) {
        var count = 0
        if !context.isScanningAhead { context.lastProgress = .now }
        while hasScanWork, !context.isScanningAhead {
            count += 1
            if count % 32 == 0 {
                let now = Moment.now
                // On a slow share names that all begin alike would keep everything else waiting.
                if now >= end, listings.last?.isAmidShot != true || now >= end + .milliseconds(50) { break }
            }
            if !urgent.isEmpty, listings.last?.isUrgent != true {
                if let node = urgent.popLast() { begin(node, isUrgent: true) }
            } else if let listing = listings.last {
                advance(listing)
            } else if let node = pending.popLast() {
                begin(node, isUrgent: false)
            }
        }
        // What events tell before the next slice has to meet what was found until now.
        for listing in listings { meetFound(in: listing) }
        if !hasScanWork { finishScan() }
    }

    private func finishScan() {
        letGo()
        if polled > 0, nextPoll == .never { nextPoll = .now + settings.pollInterval }
        guard isFullScan else { return }
        isFullScan = false
        let kept = reasons.filter { [.leaseUnknown, .dropOpen].contains($0.key) }
        reasons = scanFaults.merging(kept) { fault, _ in fault }
        scanFaults = [:]
        hasFinishedFirstScan = true
        let now = Moment.now
        context.lastProgress = now
        nextRescan = now + settings.rescanInterval
        if wantsFullScan {
            wantsFullScan = false
            startFullScan(at: now)
        }
    }

    private func begin(_ node: FolderNode, isUrgent: Bool) {
        let kind = node.pending
        node.pending = .none
        guard kind != .none, !node.isDetached else { return }
        do throws(Errno) {
            guard let held = try admit(node) else { return }
            // A descriptor of its own: the position in the folder belongs to the listing.
            let own = OpenFolder(try held.folder.folder(at: Path(bytes: [])))
            listings.append(
                Listing(of: node, own, isFull: kind == .full, isUrgent: isUrgent, number: context.nextListing()))
        } catch {
            setBehind(node, false)
            fail(node, error)
        }
    }

    private func advance(_ listing: Listing) {
        guard !listing.node.isDetached else {
            listings.removeAll { $0 === listing }
            return
        }
        do throws(Errno) {
            switch try listing.next() {
            case .read(let name): sort(name, in: listing)
            case .inOrder(let name): meet(name, in: listing)
            case .end:
                listings.removeAll { $0 === listing }
                finish(listing)
            }
        } catch {
            listings.removeAll { $0 === listing }
            meetFound(in: listing)
            // The failure is told instead, and shots wait for no more of it.
            setBehind(listing.node, false)
            listing.node.hasBeenListed = true
            listing.node.listedBelow = nil
            fail(listing.node, error)
        }
    }

    /// Folders are met at once, so that they are watched soon; what may be a file waits until all names are there.
    private func sort(_ name: NameReader.Name, in listing: Listing) {
        if name.kind == .symlink || name.kind == .other { return }
        if ignoring.ignores(name.path, in: listing.path, isFolder: name.kind == .directory) { return }
        if name.kind != .directory {
            listing.keep(name.path)
        } else if settings.isRecursive {
            meetFolder(name.path, in: listing)
        }
    }

    private func meet(_ name: Path, in listing: Listing) {
        let status: NameStatus
        do throws(Errno) { status = try NameStatus(of: name, in: listing.held.folder) } catch {
            if error != .noEntry { listing.note(error) }  // else gone since
            return
        }
        if status.kind == .regular {
            listing.found.append((name, status.stamp))
            if listing.found.count >= Listing.portion, !listing.isAmidShot { meetFound(in: listing) }
        } else if status.kind == .directory {
            guard settings.isRecursive, !ignoring.ignores(name, in: listing.path, isFolder: true) else { return }
            meetFolder(name, in: listing)
        }
    }

    /// Asks the store for a portion of files at once, and lets those settle that it does not know.
    private func meetFound(in listing: Listing) {
        guard let last = listing.found.last else { return }
        let found = listing.found
        listing.found.removeAll(keepingCapacity: true)
        let node = listing.node
        guard !node.isDetached else { return }
        let isTold = expectsEvents(in: node) && listing.number > node.listedWatched
        let now = Moment.now
        let known = areKnown(found.map { (listing.absolute / $0.name, $0.stamp) }, on: node.volume)
        for ((name, stamp), isKnown) in zip(found, known) where !isKnown {
            notice(name, in: node, stamp, by: .listing(shouldBeTold: isTold), at: now)
        }
        // Further names may begin like the last one.
        if !node.hasBeenListed, listing.number > node.loss {
            let reached = NameList.Beginning(of: last.name)
            node.listedBelow = node.listedBelow.map { max($0, reached) } ?? reached
        }
    }

    private func meetFolder(_ name: Path, in listing: Listing) {
        let known = listing.node.children[name]
        let child = known ?? FolderNode(name, in: listing.node, of: self, seen: listing.number)
        child.seen = max(child.seen, listing.number)
        listing.node.children[name] = child
        if listing.isFull || known == nil { enlist(child, .full, isUrgent: listing.isUrgent) }
    }

    private func finish(_ listing: Listing) {
        let node = listing.node
        meetFound(in: listing)
        if listing.number > node.loss {
            node.hasBeenListed = true
            node.listedBelow = nil
            setBehind(node, false)
        }
        if node.watch >= 0 { node.listedWatched = listing.number }
        for child in Array(node.children.values) where child.seen < listing.number { detach(child) }
        // An orphan that was removed where nobody watches: it has no time of its own at which that would show.
        for shot in node.shots.values where shot.state == .orphaned {
            removeVanished(from: shot, listing.held)
        }
    }

    /// A folder could not be opened or read.
    func fail(_ node: FolderNode, _ error: Errno) {
        let now = Moment.now
        switch error {
        case .noEntry, .notDirectory, .loop:
            if node.parent == nil { nextRootLook = now } else { detach(node) }
        case .stale, .noDevice:
            // What lies under the path is no longer what was opened; where it begins, the root will show.
            nextRootLook = now
            nextRescan = min(nextRescan, now + Self.soon)
        case .accessDenied, .notPermitted:
            report(
                .sourcePermission,
                "Could not read the folder \(SafeText.of(settings.path / node.path)): \(error).")
        default:
            report(.sourceIO, "Could not read the folder \(SafeText.of(settings.path / node.path)): \(error).")
            if [.io, .noMemory, .tooManyOpenFiles, .tooManyOpenFilesInSystem].contains(error) {
                nextRescan = min(nextRescan, now + Self.soon)
            }
        }
    }

    /// When a fault that may pass by itself is worth another scan of everything.
    private static let soon = Duration.seconds(30)
}
