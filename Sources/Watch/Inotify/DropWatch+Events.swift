import Files
import PhotoModel

/// What the kernel tells of a folder.
extension DropWatch {
    /// - Parameter arrivals: gets the files to be looked at once the kernel's queue is empty.
    func handle(_ event: Inotify.Event, in node: FolderNode, at now: Moment, arrivals: inout [Arrival]) {
        if event.isUnmount || event.isOwnDeparture {
            handleDeparture(of: node, event, at: now)
        } else if event.isIgnored {
            forgetWatch(of: node)
            rescans += 1
            say(.warning, "A watch was lost; its folder is scanned again.", [("PATH", SafeText.of(node.path))])
            enlist(node, .full, isUrgent: true)
        } else if event.isFolder {
            if event.isDeparture {
                if let child = node.children[event.name] { detach(child) }
            } else if event.isArrival {
                arrive(event.name, in: node)
            }
        } else if event.isDeparture {
            depart(event.name, from: node)
        } else if event.isArrival {
            if let last = arrivals.last, last.node === node, last.name == event.name {
                arrivals[arrivals.count - 1].wasWritten = last.wasWritten || event.wasWritten
            } else {
                arrivals.append(Arrival(node: node, name: event.name, wasWritten: event.wasWritten))
            }
        }
    }

    struct Arrival {
        let node: FolderNode
        let name: Path
        var wasWritten: Bool
    }

    private func handleDeparture(of node: FolderNode, _ event: Inotify.Event, at now: Moment) {
        guard let parent = node.parent else {
            loseRoot(
                at: now,
                because: event.isUnmount ? "The drop folder was unmounted." : "The drop folder was moved or removed.")
            return
        }
        // Moved: the parent's own event says where from, unless nobody watches the parent.
        if event.isOwnDeparture, !event.isRemoval, parent.watch >= 0 { return }
        detach(node)
        // Under a mount that is gone lies the folder it was mounted on.
        if event.isUnmount || parent.watch < 0 {
            rescans += 1
            enlist(parent, .own, isUrgent: true)
        }
    }

    /// A folder was made or moved in: watched at once, then listed before anything else.
    private func arrive(_ name: Path, in node: FolderNode) {
        guard settings.isRecursive, !ignoring.ignores(name, in: node.path, isFolder: true) else { return }
        let child = node.children[name] ?? FolderNode(name, in: node, of: self, seen: 0)
        child.seen = context.nextListing()
        node.children[name] = child
        do throws(Errno) {
            guard try admit(child) != nil else { return }
            enlist(child, .full, isUrgent: true)
        } catch {
            fail(child, error)
        }
    }

    private func depart(_ name: Path, from node: FolderNode) {
        guard let shot = node.shots[ShotName(name).stem] else { return }
        remove(name, from: shot)
    }

    /// Looks at the files that events named.
    func look(at arrivals: ArraySlice<Arrival>, now: Moment) {
        for arrival in arrivals where !arrival.node.isDetached {
            guard !ignoring.ignores(arrival.name, in: arrival.node.path, isFolder: false) else { continue }
            do throws(Errno) {
                let status = try NameStatus(of: arrival.name, in: open(arrival.node).folder)
                guard status.kind == .regular else { continue }
                notice(
                    arrival.name, in: arrival.node, status.stamp, by: .event(wasWritten: arrival.wasWritten), at: now)
            } catch .noEntry {
                depart(arrival.name, from: arrival.node)  // gone again
            } catch {
                context.noteLoss()  // the scan that finds it must not wonder why nobody told of it
                fail(arrival.node, error)
            }
        }
    }
}
