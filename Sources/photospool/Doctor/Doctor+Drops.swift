internal import ControlAPI
internal import Files
internal import Glibc
internal import PhotoModel

extension Doctor {
    mutating func checkDrop(_ drop: DropFolder) {
        let check = "drop.\(SafeText.of(drop.name))"
        let shown = SafeText.of(drop.path)
        do throws(Place.Refusal) {
            let place = try Place.open(drop.path)
            add(.ok(check, "\(shown) is there (\(place.owners))."))
            checkWatching(drop, place, check)
            let isPolled = drop.watch == .poll || drop.watch == .auto && place.filesystem.isRemote
            let contents = DropContents(drop, in: place.folder, isPolled: isPolled)
            checkReadable(drop, contents, check)
            checkDisposition(drop, place, contents, check)
            folders += [contents]
        } catch {
            switch error {
            case .absent: add(.ok(check, "\(shown) is not there at the moment; it is picked up when it comes."))
            case .silent:
                add(
                    .fault(
                        check, "\(shown) does not answer within 5 s.",
                        todo: "Check the share it lies on, and the network; the other drop folders go on."))
            case .closed(let errno):
                add(
                    refusal(
                        check, R_OK | X_OK, drop.path, "read",
                        todo: "Let the service's user read the folder and search those above it.")
                        ?? Self.closed(check, shown, errno))
            }
        }
    }

    private mutating func checkWatching(_ drop: DropFolder, _ place: borrowing Place, _ check: String) {
        let type = place.filesystem.typeName
        let isRemote = place.filesystem.isRemote
        let polled = "read again every \(drop.pollInterval.components.seconds) s"
        let way =
            switch (drop.watch, isRemote) {
            case (.poll, _): "It is \(polled), as configured (\(type))"
            case (.auto, true): "It is \(polled): no events come from others on \(type)"
            case (.inotify, true): "It is watched by inotify, as configured, on \(type)"
            case (_, false): "It is watched by inotify (\(type))"
            }
        let check = check + ".watch"
        if drop.watch == .inotify, isRemote {
            let gap = drop.rescanInterval.components.seconds
            return add(
                .warning(
                    check, "\(way): what others put there is only seen by the rescan every \(gap) s.",
                    todo: "Write watch = \"auto\" or \"poll\" for this drop folder."))
        }
        guard case .success(let status) = installed.status,
            let own = status.drops.first(where: { $0.name == drop.name })
        else { return add(.ok(check, "\(way).")) }
        let folders = Amounts.count(own.watches, "folder")
        let others = Amounts.count(own.polledFolders ?? 0, "folder")
        add(.ok(check, "\(way); at the moment \(folders) by events, \(others) read again."))
    }

    private mutating func checkReadable(_ drop: DropFolder, _ contents: DropContents, _ check: String) {
        let user = installed.user
        let before = diagnoses.count
        let todo = "Let the service's user \(user.name) read there: by group and mode, or by setfacl."
        if let refusal = refusal(check + ".readable", R_OK | X_OK, drop.path, "read", todo: todo) {
            return add(refusal)
        }
        for (kind, paths, mode) in [
            ("folder", contents.someFolders, R_OK | X_OK), ("file", contents.someFiles, R_OK),
        ] {
            let answers = user.may(mode, paths)
            let closed = zip(paths, answers).filter { if case .no = $0.1 { true } else { false } }
            if let first = closed.first {
                add(
                    .fault(
                        check + ".readable",
                        "The service's user \(user.name) may not read \(Amounts.count(closed.count, kind)) of"
                            + " \(Amounts.grouped(paths.count)) looked at, such as \(SafeText.of(first.0)).", todo: todo
                    ))
            }
            if answers.contains(where: { if case .unknown = $0 { true } else { false } }) {
                add(.unknown(check + ".readable", "Whether every \(kind) there can be read could not be asked."))
            }
        }
        if let failure = contents.failure {
            add(
                .unknown(
                    check + ".readable",
                    "Not all of it could be looked at: \(SafeText.of(failure.path)): \(failure.errno)."))
        }
        guard diagnoses.count == before else { return }
        let files = contents.someFiles.count
        add(
            .ok(
                check + ".readable",
                "The service's user \(user.name) may read it"
                    + (files == 0 ? "; no files lie there." : ", and all of \(Amounts.count(files, "file")) looked at.")
            ))
    }

    // MARK: After the import

    private mutating func checkDisposition(
        _ drop: DropFolder, _ place: borrowing Place, _ contents: DropContents, _ check: String
    ) {
        let check = check + ".after_import"
        guard drop.afterImport != .keep else {
            return add(.ok(check, "Sources are kept, and nothing is written there."))
        }
        let verb = drop.afterImport == .move ? "moved" : "deleted"
        let before = diagnoses.count
        if place.status.isWorldWritable {
            add(
                .fault(
                    check,
                    "Everybody may write to \(SafeText.of(drop.path)) (\(place.owners)): sources there are not"
                        + " \(verb) (W_DROP_OPEN).", todo: "Run `chmod o-w \(SafeText.of(drop.path))`."))
        }
        let todo = "Let the service's user write there: by group and mode 2770, as the package makes drop folders."
        let answers = zip(
            [drop.path] + contents.someFolders, installed.user.may(W_OK | X_OK, [drop.path] + contents.someFolders))
        if let closed = answers.first(where: { if case .no = $0.1 { true } else { false } }) {
            add(
                .fault(
                    check,
                    "The service's user \(installed.user.name) may not change \(SafeText.of(closed.0)): sources there"
                        + " cannot be \(verb).", todo: todo))
        } else if answers.contains(where: { if case .unknown = $0.1 { true } else { false } }) {
            add(.unknown(check, "Whether sources can be \(verb) could not be asked."))
        }
        checkSticky(place, contents, check, verb)
        if drop.afterImport == .move { checkTarget(drop, place, check) }
        if diagnoses.count == before { add(.ok(check, "Sources can be \(verb) after their import.")) }
    }

    /// In a sticky folder only the owner of a file, or of the folder, may remove it; CAP_FOWNER too.
    private mutating func checkSticky(
        _ place: borrowing Place, _ contents: DropContents, _ check: String, _ verb: String
    ) {
        let user = installed.user
        let hasFowner = installed.unit.map { UnitCheck(unit: $0, places: []).gives("CAP_FOWNER") } ?? false
        guard place.status.isSticky, !user.isRoot, user.isKnown, !hasFowner, place.status.uid != user.uid else {
            return
        }
        guard let foreign = contents.owners.first(where: { $0 != user.uid }) else { return }
        add(
            .fault(
                check,
                "\(SafeText.of(place.path)) is sticky and holds files of \(SafeText.of(Accounts.userName(foreign))): only"
                    + " they may remove them, so sources cannot be \(verb).",
                todo: "Run `chmod -t \(SafeText.of(place.path))`, or give the service CAP_FOWNER with `systemctl edit"
                    + " photospool`."))
    }

    private mutating func checkTarget(_ drop: DropFolder, _ place: borrowing Place, _ check: String) {
        let target = drop.moveTo.isEmpty ? drop.path / ".imported" : drop.moveTo
        var standing = target
        while !exists(standing), standing.parent != standing, !standing.parent.isEmpty { standing = standing.parent }
        var found = stat()
        guard unsafe standing.withCString({ unsafe stat($0, &found) }) == 0 else {
            return add(.unknown(check, "move_to \(SafeText.of(target)) could not be looked at: \(Errno.last)."))
        }
        if UInt64(found.st_dev) != place.status.stamp.device {
            add(
                .fault(
                    check,
                    "move_to \(SafeText.of(target)) is on another filesystem than \(SafeText.of(drop.path)): sources stay.",
                    todo: "Choose a folder on the drop's filesystem, or leave move_to out."))
        }
        if let refusal = refusal(
            check, W_OK | X_OK, standing, "write to", todo: "Let the service's user write to \(SafeText.of(standing)).")
        {
            add(refusal)
        }
    }
}
