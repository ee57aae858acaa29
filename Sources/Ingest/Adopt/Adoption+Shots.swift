import Files
import PhotoModel
import Preview
import Store

extension Adoption {
    /// A file that was read and looked at.
    struct Member: Sendable {
        var file: StagedResource
        var inspection: Inspection
        var isShot: Bool { DuplicateStep.shotRoles.contains(file.role) }
    }

    /// The files of one asset.
    struct Part {
        var members: [Member]
        /// That they join.
        var joins: Asset.ID?
    }

    // MARK: Parting

    /// Files of one stem are one shot, unless they say that they are several: ``Parting``. What cannot be a shot goes with
    /// the one that it is of, or joins what the catalog has.
    func parts(_ members: [Member], beside asset: Asset.ID?, _ outcome: inout Outcome) -> [Part] {
        let shots = members.filter(\.isShot)
        let companions = members.filter { !$0.isShot }
        func parted(_ members: [Member]) -> [Part] {
            let parts = Parting.parts(
                of: members.map { Parting.Member($0.file, $0.inspection, now: now()) })
            return parts.map { part in Part(members: part.map { members[$0] }) }
        }
        if companions.isEmpty { return parted(shots) }
        if let asset { return parted(shots) + [Part(members: companions, joins: asset)] }
        if !shots.isEmpty { return parted(members) }
        for member in companions {
            outcome.refused.append(
                Refusal(
                    kind: .alone, path: member.file.staged,
                    sentence: "\(SafeText.of(member.file.staged)) is not a photo, and none is beside it."))
        }
        return []
    }

    // MARK: Adopting

    /// - Returns: nil when a file changed at the last moment.
    func adopt(
        _ part: Part, _ isCancelled: @escaping () -> Bool, _ outcome: inout Outcome
    ) throws(Stop) -> Asset.ID? {
        let importID = newID()
        defer { removeStaging(of: importID) }
        let (asset, made) = try describe(part, importID: importID, isCancelled)
        for member in part.members where stamp(of: member.file.staged) != member.file.sourceStamp {
            outcome.refused.append(
                Refusal(
                    kind: .changed, path: member.file.staged,
                    sentence:
                        "\(SafeText.of(member.file.staged)) changed while it was looked at; the next run looks again."
                ))
            return nil
        }
        try trying(library.check)
        let moves = made?.moves(of: asset.id) ?? []
        let intent = CommitIntent(
            job: 0, importID: importID, moves: moves, asset: asset, joinsExisting: part.joins != nil)
        return try trying { () throws(Problem) in try commit(intent) } ? asset.id : nil
    }

    /// The line first, then the preview's name, then the catalog: whoever dies in between leaves at most a preview that
    /// nobody asks for, and a line that is true.
    private func commit(_ intent: CommitIntent) throws(Problem) -> Bool {
        let time = now()
        let journal = try store.announceAdoption(of: intent.asset, importID: intent.importID, at: time)
        try library.journal.append(
            JournalLine(
                id: journal, time: time.rfc3339, what: "adopt", sha256: intent.asset.resources.first?.sha256,
                intent: intent), at: time)
        do throws(MoveFailure) {
            try FinalMoves(library: library, calls: .live).perform(intent.moves)
        } catch {
            switch error {
            case .problem(let problem): throw problem
            case .nameTaken(let path):
                throw Problem(.libraryIO, "\(SafeText.of(path)) is there already, for an asset that is new.")
            }
        }
        return try store.adopt(intent, journal: journal)
    }

    private func describe(
        _ part: Part, importID: String, _ isCancelled: @escaping () -> Bool
    ) throws(Stop) -> (asset: Asset, preview: StagedPreview?) {
        let files = part.members.map(\.file)
        let inspections = part.members.map(\.inspection)
        var resources = zip(files, inspections).map { file, inspection in
            Resource(
                role: file.role, path: file.staged, sourcePath: file.source, size: file.size, sha256: file.sha256,
                mtime: file.sourceStamp.mtime, mediaType: inspection.mediaType)
        }
        if let id = part.joins, var joined = try trying({ () throws(Problem) in try store.asset(id) }) {
            joined.resources = resources
            joined.facts = Facts()
            return (joined, nil)
        }
        var members = resources.map(Membership.Member.init)
        for (position, role) in Membership.roles(of: members).enumerated() {
            members[position].role = role
            resources[position].role = role
        }
        let facts = ShotFacts(files: files, inspections: inspections, now: now())
        var asset = Asset(
            id: importID,
            kind: Membership.kind(
                of: members, isScreenshot: facts.facts.isScreenshot, holdsVideo: facts.holdsVideo),
            collection: "", facts: facts.facts, resources: resources, preview: AssetPreview(state: .none),
            importedAt: now())
        let preview = try preview(files, inspections, importID: importID, isCancelled)
        asset.preview = IntentBuilder.describe(preview, of: asset.id)
        if case .made(let made) = preview { return (asset, made) }
        return (asset, nil)
    }

    private func preview(
        _ files: [StagedResource], _ inspections: [Inspection], importID: String, _ isCancelled: @escaping () -> Bool
    ) throws(Stop) -> PreviewStep.Result {
        let staging = LibraryLayout.staging(of: importID)
        try trying { () throws(Problem) in
            try library.requireRoom(for: spec.mostBytes)
            try onLibrary(staging, doing: "make") { () throws(Errno) in
                try library.root.makeFolders(at: staging, mode: 0o700)
            }
        }
        do throws(ImportEnded) {
            // A photo that cannot be shown is in the library all the same: its asset says why.
            return try PreviewStep(
                library: library, decoders: decoders, staging: library.previewStaging(of: importID), spec: spec,
                policy: .keep,
                isCancelled: isCancelled
            ).run(files, inspections)
        } catch {
            switch error.outcome {
            case .outage(let problem), .tryLater(let problem), .ended(_, let problem): throw .problem(problem)
            default: throw .cancelled
            }
        }
    }

    private func removeStaging(of importID: String) {
        do throws(Errno) { try library.removeStaging(of: importID) } catch _ {}  // the sweep finds it
    }
}
