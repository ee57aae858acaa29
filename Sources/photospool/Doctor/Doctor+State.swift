internal import ControlAPI
internal import Files
internal import Glibc
internal import HTTPClient
internal import PhotoModel
internal import Store

extension Doctor {
    mutating func checkState() {
        let path = installed.stateDirectory
        let shown = SafeText.of(path)
        do throws(Place.Refusal) {
            let place = try Place.open(path)
            checkFolder(place)
            checkDisk(place)
        } catch {
            switch error {
            case .absent:
                return add(
                    .warning(
                        "state", "The state directory \(shown) is not there.",
                        todo: "Nothing, if the service has never run: its first start makes it. Else name it with"
                            + " --state-dir."))
            case .silent:
                return add(
                    .fault(
                        "state", "The state directory \(shown) does not answer within 5 s.",
                        todo: "Put it on a local disk."))
            case .closed(let errno):
                add(Self.closed("state", "The state directory \(shown)", errno))
            }
        }
        checkDatabase()
    }

    private mutating func checkFolder(_ place: borrowing Place) {
        let user = installed.user
        let shown = SafeText.of(place.path)
        let before = diagnoses.count
        if place.status.uid != user.uid, !user.isRoot, user.isKnown {
            add(
                .fault(
                    "state",
                    "The state directory \(shown) belongs to \(SafeText.of(Accounts.userName(place.status.uid))), the"
                        + " service runs as \(user.name).", todo: "Run `chown -R \(user.name) \(shown)`."))
        } else if let refusal = refusal(
            "state", R_OK | W_OK | X_OK, place.path, "read and write", todo: "Run `chmod u+rwx \(shown)`.")
        {
            add(refusal)
        }
        if place.status.mode & 0o022 != 0 {
            add(
                .fault(
                    "state", "Others may write to the state directory \(shown) (\(place.owners)).",
                    todo: "Run `chmod 0750 \(shown)`."))
        } else if place.status.mode & 0o007 != 0 {
            add(
                .warning(
                    "state", "Everybody may look into the state directory \(shown) (\(place.owners)).",
                    todo: "Run `chmod 0750 \(shown)`."))
        }
        if diagnoses.count == before { add(.ok("state", "The state directory \(shown) is \(place.owners).")) }
    }

    private mutating func checkDisk(_ place: borrowing Place) {
        let type = place.filesystem.typeName
        if place.filesystem.isRemote {
            add(
                .fault(
                    "state.filesystem",
                    "The state lies on a network filesystem or one of user space (\(type)), where SQLite's"
                        + " write-ahead log cannot be kept.",
                    todo: "Move the state directory to a local disk; --state-dir names it."))
        } else if place.filesystem.isReadOnly {
            add(
                .fault(
                    "state.filesystem", "The state directory is mounted read-only (\(type)).",
                    todo: "Look why with `dmesg`, then remount it: mount -o remount,rw"))
        } else {
            add(.ok("state.filesystem", "The state lies on a local filesystem (\(type))."))
        }
        var size: Int64 = 0
        do throws(Errno) { size = try place.folder.status(of: Path("spool.db")).stamp.size } catch {
            // Not there yet, or closed to this user: told by the check of the database.
        }
        add(Figures.stateSpace("state.space", available: place.filesystem.availableBytes, database: size))
    }

    // MARK: The database

    private static let database = "state.database"

    private mutating func checkDatabase() {
        if installed.isRunning { return askService() }
        switch installed.isStateHeld {
        case true?:
            return add(
                .unknown(
                    Self.database,
                    "A process holds the state (\(holder)), and no service answers: spool.db was left alone.",
                    todo: "Ask again when the service answers or is stopped."))
        case nil:
            return add(.unknown(Self.database, "Whether a service uses the state could not be asked."))
        case false?: break
        }
        let path = installed.stateDirectory / "spool.db"
        let shown = SafeText.of(path)
        guard unsafe path.withCString({ unsafe access($0, R_OK) }) == 0 else {
            if Errno.last == .noEntry {
                add(.ok(Self.database, "There is no \(shown) yet; the first start makes it."))
            } else {
                add(.unknown(Self.database, "\(shown) may not be read by this user."))
            }
            return
        }
        let deadline = ContinuousClock.now + Tool.limit
        do throws(Problem) {
            let (faults, library) = try StateAtRest(directory: installed.stateDirectory)
                .look(isCancelled: { ContinuousClock.now > deadline })
            guard faults.isEmpty || !isSpoiled else { return tellSpoiled() }
            if faults.isEmpty { add(.ok(Self.database, "\(shown) is whole.")) }
            for fault in faults.prefix(5) {
                add(.fault(Self.database, fault.detail, todo: Self.restore(installed.stateDirectory)))
            }
            if faults.isEmpty { checkLibraryID(library) }
        } catch {
            if ContinuousClock.now > deadline {
                add(
                    .unknown(
                        Self.database, "\(shown) could not be read to its end within 5 s.",
                        todo: "Start the service and ask again: it then checks its state itself."))
            } else if isSpoiled {
                tellSpoiled()
            } else {
                add(.fault(Self.database, error.whatHappened, todo: error.whatToDo))
            }
        }
    }

    /// A service that started while the file was read has changed it meanwhile.
    private var isSpoiled: Bool { Installed.holder(of: installed.stateDirectory).isHeld != false }

    private mutating func tellSpoiled() {
        add(.unknown(Self.database, "The service started while its state was looked at.", todo: "Ask again."))
    }

    private var holder: String { installed.process.map { "process \($0)" } ?? "of another machine or user" }

    private static func restore(_ directory: Path) -> String {
        "Keep \(SafeText.of(directory)) as it is, in another place; then put a backup there, or start with none and run"
            + " `photospool rebuild`. The photos are not touched by either."
    }

    private mutating func checkLibraryID(_ expected: String?) {
        guard let expected, let found = libraryID, expected != found else { return }
        add(
            .fault(
                "library",
                "The state belongs to the library \(SafeText.of(expected)), the folder is the library \(found).",
                todo: "Mount the right disk, or name the state directory that belongs to this library."))
    }

    // MARK: Asking the service

    /// The database is the service's own while it runs: it checks itself, as an operation.
    private mutating func askService() {
        do throws(Failure) {
            var daemon = try Daemon(socket: installed.socket)
            let bytes = try daemon.post("/v1/operations", OperationRequest(kind: "check", arguments: [:]))
            var body = try Daemon.decode(OperationBody.self, bytes)
            let start = ContinuousClock.now
            // It waits its turn behind others for a moment only; at work, a catalog of a million photos takes seconds.
            while !body.isOver,
                ContinuousClock.now - start < (body.state == "queued" ? Tool.limit : .seconds(60))
            {
                usleep(20_000)
                body = try daemon.get(OperationBody.self, "/v1/operations/\(body.id)")
            }
            guard body.isOver else {
                let wasAtWork = body.state == "running"
                _ = try daemon.post("/v1/operations/\(body.id)/cancel")
                if wasAtWork {
                    return add(
                        .unknown(
                            Self.database,
                            "The service was still checking its state after a minute, and was told to leave it.",
                            todo: "Let it take its time: curl --unix-socket \(SafeText.of(installed.socket)) -d"
                                + " '{\"kind\":\"check\"}' http://localhost/v1/operations"))
                }
                return add(
                    .unknown(
                        Self.database, "The service did not come to check its state: other work is under way.",
                        todo: "Look with `photospool operations`, and ask again later."))
            }
            tell(body)
        } catch {
            if error.status == .notPermitted {
                add(.unknown(Self.database, "This user may not order the service to check its state."))
            } else {
                add(
                    .unknown(
                        Self.database, "The service could not check its state: \(SafeText.of(error.detail))",
                        todo: error.recovery))
            }
        }
    }

    private mutating func tell(_ body: OperationBody) {
        if let error = body.error {
            add(.fault(Self.database, SafeText.of(error.detail), todo: SafeText.of(error.recovery)))
        } else if body.findingsCount == 0 {
            add(.ok(Self.database, "The service has checked its state: structure, references and counts are right."))
        }
        for finding in (body.findings ?? []).prefix(5) {
            let todo =
                finding.kind == "damaged"
                ? "Stop the service. " + Self.restore(installed.stateDirectory)
                : "Report this; stop the service, put spool.db aside and run `photospool rebuild`."
            add(.fault(Self.database, SafeText.of(finding.detail), todo: todo))
        }
        checkLibraryID(body.results["library_id"])
    }
}
