import PhotoModel

/// Shots by the time at which each has to be looked at: a binary heap.
///
/// A time that moves back costs nothing: the entry stays where it is and is put right when it comes up, so a file that
/// is written to all the while does no work here. A time that moves forward makes a second entry, and the first one is
/// passed over when it comes up.
struct Deadlines {
    private struct Entry {
        let at: Moment
        let shot: Shot
    }

    private var heap: [Entry] = []

    var next: Moment? { heap.first?.at }

    /// Has `shot` come up at its ``Shot/due``.
    mutating func schedule(_ shot: Shot) {
        guard shot.due < shot.scheduled else { return }
        shot.scheduled = shot.due
        insert(Entry(at: shot.due, shot: shot))
    }

    /// A shot whose time has come; nil when there is none. It has to be scheduled anew.
    mutating func popDue(at now: Moment) -> Shot? {
        while let first = heap.first, first.at <= now {
            removeFirst()
            let shot = first.shot
            guard shot.state.isTimed, shot.scheduled == first.at else { continue }
            shot.scheduled = .never
            if shot.due <= now { return shot }
            schedule(shot)
        }
        return nil
    }

    private mutating func insert(_ entry: Entry) {
        heap.append(entry)
        var place = heap.count - 1
        while place > 0 {
            let parent = (place - 1) / 2
            guard heap[place].at < heap[parent].at else { return }
            heap.swapAt(place, parent)
            place = parent
        }
    }

    private mutating func removeFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].at < heap[least].at {
                least = child
            }
            if least == place { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}

extension Moment {
    static let never = Moment(nanoseconds: .max)
}
