internal import ControlAPI
internal import Files
internal import Glibc
internal import PhotoModel

/// The second place of every original. That it is away stops nothing, so it is a warning; what it cannot be is a fault.
extension Doctor {
    mutating func checkMirror(_ settings: Settings) {
        let path = settings.library.mirror
        if path.isEmpty { return }
        let shown = SafeText.of(path)
        let waiting = "Imports go on; sources that are to be moved or deleted wait for it."
        do throws(Place.Refusal) {
            let place = try Place.open(path)
            checkMarker(ofMirror: place)
            checkAccess(ofMirror: place)
            add(
                Figures.space(
                    "mirror.space", available: place.filesystem.availableBytes, total: place.filesystem.totalBytes,
                    reserve: settings.library.reserveFree.bytes, of: "mirror"))
            checkFilesystem(ofMirror: place, library: settings.library.path)
        } catch {
            switch error {
            case .absent:
                add(
                    .warning(
                        "mirror", "The mirror \(shown) is not there. \(waiting)",
                        todo: "Mount or connect its disk; for a new one run `sudo photospool init --mirror \(shown)`."))
            case .silent:
                add(
                    .warning(
                        "mirror", "The mirror \(shown) does not answer within 5 s. \(waiting)",
                        todo: "Check the share it lies on, and the network."))
            case .closed(let errno): add(Self.closed("mirror", "The mirror \(shown)", errno))
            }
        }
        checkDebts(path)
    }

    private mutating func checkMarker(ofMirror place: borrowing Place) {
        let shown = SafeText.of(place.path)
        do throws(Problem) {
            guard let marker = try LibraryMarker.read(.mirror, in: place.folder, shown: place.path) else {
                return add(
                    .fault(
                        "mirror",
                        "\(shown) has no marker \(SafeText.of(LibraryMarker.Role.mirror.path)): a service that knows a"
                            + " mirror already writes nothing there.",
                        todo: "Mount the right disk there; a new one is made a mirror by `sudo photospool init --mirror"
                            + " \(shown)`."))
            }
            if let library = libraryID, library != marker.id {
                return add(
                    .fault(
                        "mirror", "\(shown) is the mirror of another library (\(marker.id)): nothing is written there.",
                        todo: "Mount the right disk, or correct library.mirror."))
            }
            add(
                .ok(
                    "mirror",
                    "\(shown) is a mirror of the library, id \(marker.mirrorID ?? ""), made \(SafeText.of(marker.createdAt))."
                ))
        } catch {
            if error.code == .libraryPermission {
                add(.unknown("mirror", error.whatHappened))
            } else {
                add(.fault("mirror", error.whatHappened, todo: error.whatToDo))
            }
        }
    }

    private mutating func checkAccess(ofMirror place: borrowing Place) {
        let todo =
            "Give the folder to the service: chown -R \(installed.user.name)"
            + " \(SafeText.of(place.path / LibraryMarker.folder)), and let it write to the mirror itself."
        if let refusal = refusal("mirror.access", R_OK | W_OK | X_OK, place.path, "read and write", todo: todo) {
            add(refusal)
        } else {
            add(
                .ok(
                    "mirror.access",
                    "The service's user \(installed.user.name) may read and write it (\(place.owners))."))
        }
    }

    private mutating func checkFilesystem(ofMirror place: borrowing Place, library: Path) {
        let check = "mirror.filesystem"
        let type = place.filesystem.typeName
        if place.filesystem.isReadOnly {
            add(
                .fault(
                    check, "The mirror is mounted read-only (\(type)).",
                    todo: "Look why with `dmesg`, then remount it: mount -o remount,rw \(SafeText.of(place.path))"))
        }
        let isShared: Bool
        if installed.silent.contains(library) {
            return add(.unknown(check, "Whether it is another disk than the library's could not be asked.", todo: ""))
        }
        do throws(Errno) {
            let other = try Folder(opening: library)
            let filesystem = try other.filesystem()
            isShared =
                try other.status().stamp.device == place.status.stamp.device || filesystem.id == place.filesystem.id
        } catch {
            return add(.unknown(check, "Whether it is another disk than the library's could not be asked: \(error)."))
        }
        add(
            isShared
                ? .warning(
                    check,
                    "The mirror lies on the library's own filesystem (\(type)): what takes that takes both.",
                    todo: "Put the mirror on another disk, or better on another machine.")
                : .ok(check, "The mirror lies on another filesystem than the library (\(type))."))
    }

    private mutating func checkDebts(_ path: Path) {
        guard case .success(let status) = installed.status else { return }
        guard let mirror = status.mirror, mirror.path == PathText(path).text else {
            return add(
                .warning(
                    "mirror.behind",
                    "The service that runs uses \(status.mirror.map { SafeText.of($0.path) } ?? "no mirror").",
                    todo: "Run `photospool reload`."))
        }
        add(
            mirror.behind == 0
                ? .ok("mirror.behind", "Every original is on the mirror.")
                : .warning(
                    "mirror.behind", "The mirror is \(Amounts.count(Int(mirror.behind), "file")) behind.",
                    todo: "Nothing while it catches up; `photospool status` says what keeps it."))
    }
}
