internal import Files
internal import Glibc
package import PhotoModel

/// Looks for folders that lie inside each other, where the one way from drop folder to library would become a circle:
/// also by symbolic link and by bind mount. To be asked at start and at every reload, before anything is watched.
package enum OverlapCheck {
    /// Every overlap there is (`E_OVERLAP`), and each `move_to` that is not on its drop's filesystem (`E_CONFIG`), where
    /// moving could not be a rename. Empty when all is well. Absent folders count as lying where they are named.
    ///
    /// - Parameter askingServers: false leaves alone what lies on shares, which may not answer: a link within one is not
    ///   followed then. A mirror on a share is always left alone, since nobody waits for mirrors.
    package static func problems(
        settings: Settings, stateDirectory: Path? = nil, askingServers: Bool = true
    ) -> [Problem] {
        problems(settings: settings, stateDirectory: stateDirectory, mounts: mounts(), askingServers: askingServers)
    }

    static func problems(
        settings: Settings, stateDirectory: Path?, mounts: [Mount], askingServers: Bool = true
    ) -> [Problem] {
        let remote = RemotePlaces(mounts)
        func place(_ path: Path) -> RealPlace {
            RealPlace(of: path, mounts: mounts, untouched: askingServers ? nil : remote)
        }
        let library = place(settings.library.path)
        let mirror =
            settings.library.mirror.isEmpty
            ? nil : RealPlace(of: settings.library.mirror, mounts: mounts, untouched: remote)
        let drops = settings.drops.map { (folder: $0, place: place($0.path)) }
        let state = stateDirectory.map(place)
        var problems: [Problem] = []
        let libraryName = "the library \(SafeText.of(settings.library.path))"
        let mirrorName = "the mirror \(SafeText.of(settings.library.mirror))"
        if let mirror, let found = relation(mirror, library) {
            problems.append(
                overlap(
                    "T\(mirrorName.dropFirst()) \(found) \(libraryName).",
                    todo: "Choose a folder on another disk for the mirror."))
        }
        for (index, drop) in drops.enumerated() {
            let name = named(drop.folder)
            if let found = relation(drop.place, library) {
                problems.append(overlap("\(name) \(found) \(libraryName)."))
            }
            if let mirror, let found = relation(drop.place, mirror) {
                problems.append(
                    overlap(
                        "\(name) \(found) \(mirrorName).",
                        todo: "Choose a drop folder and a mirror that do not lie inside each other."))
            }
            if let state, state.isWithin(drop.place), drop.folder.isRecursive || drop.place.isWithin(state) {
                problems.append(overlap("The state directory lies in \(lowercased(name)).", todo: "Move one of them."))
            }
            for other in drops[..<index] {
                let inner = drop.place.isWithin(other.place)
                let outer = other.place.isWithin(drop.place)
                guard inner && outer || inner && isSeen(drop, from: other) || outer && isSeen(other, from: drop)
                else { continue }
                problems.append(
                    overlap(
                        "\(name) and \(lowercased(named(other.folder))) see the same files.",
                        todo: "Move one of them, or write recursive = false for the outer one."))
            }
            problems += moveProblems(drop.folder, drop.place, library, mirror, drops.map(\.place), place)
        }
        return problems
    }

    private typealias Drop = (folder: DropFolder, place: RealPlace)

    /// Whether a watch of `outer` comes to `inner`. A way that only the mounts know is taken for a visible one.
    private static func isSeen(_ inner: Drop, from outer: Drop) -> Bool {
        guard outer.folder.isRecursive else { return false }
        guard let below = inner.place.path.below(outer.place.path) else { return true }
        return !below.components.contains { $0.bytes.first == UInt8(ascii: ".") }
    }

    private static func relation(_ drop: RealPlace, _ library: RealPlace) -> String? {
        switch (drop.isWithin(library), library.isWithin(drop)) {
        case (true, true): "is"
        case (true, false): "lies inside"
        case (false, true): "holds inside it"
        case (false, false): nil
        }
    }

    private static func moveProblems(
        _ drop: DropFolder, _ place: RealPlace, _ library: RealPlace, _ mirror: RealPlace?, _ drops: [RealPlace],
        _ placeOf: (Path) -> RealPlace
    ) -> [Problem] {
        guard drop.afterImport == .move, !drop.moveTo.isEmpty else { return [] }
        let target = placeOf(drop.moveTo)
        let shown = "move_to \(SafeText.of(drop.moveTo)) of the drop \"\(SafeText.of(drop.name))\""
        if target.isWithin(library) {
            return [overlap("\(shown) lies inside the library.", todo: "Choose a folder outside the library.")]
        }
        if let mirror, target.isWithin(mirror) {
            return [overlap("\(shown) lies inside the mirror.", todo: "Choose a folder outside the mirror.")]
        }
        if drops.contains(where: { target.isWithin($0) && $0.isWithin(target) }) {
            return [overlap("\(shown) is a drop folder itself.", todo: "Choose another folder.")]
        }
        // Of an absent drop, a card for example, nothing can be said yet; a rename that fails later keeps the source.
        guard place.exists, let own = place.chain.first, let its = target.chain.first,
            own.device != its.device || target.isUntouched
        else { return [] }
        return [
            Problem(
                .config, "\(shown) is on another filesystem than the drop.",
                todo: "Choose a folder on the drop's filesystem, or leave move_to out.")
        ]
    }

    private static func named(_ drop: DropFolder) -> String {
        "The drop \"\(SafeText.of(drop.name))\" (\(SafeText.of(drop.path)))"
    }

    private static func lowercased(_ name: String) -> String { "t" + name.dropFirst() }

    private static func overlap(_ sentence: String, todo: String? = nil) -> Problem {
        Problem(.overlap, sentence, todo: todo)
    }

    /// Empty without /proc: then only links and paths are compared.
    /// Without /proc bind mounts are not seen; links and equal folders are.
    private static func mounts() -> [Mount] {
        do throws(Errno) { return try Mounts().read() } catch { return [] }
    }
}
