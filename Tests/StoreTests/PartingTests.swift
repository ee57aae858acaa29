import PhotoModel
import Store
import Testing

@Suite("A job whose files are several shots") struct PartingTests {
    private static let jpeg = Scene.file("/card/A.JPG")
    private static let raw = Scene.file("/card/A.CR2", role: .alternatePhoto)
    private static let video = Scene.file("/card/A.MOV", role: .pairedVideo)
    private static let edit = Scene.file("/card/A.AAE", role: .adjustment)

    private static func alone(_ file: SettledFile, _ role: Role) -> SettledFile {
        var file = file
        file.role = role
        return file
    }

    private func scene() throws -> (scene: Scene, claim: Store.Claim) {
        let scene = try Scene()
        try scene.enqueue([
            Scene.group(Self.jpeg, Self.raw, Self.video, Self.edit), Scene.group(Scene.file("/card/B.JPG")),
        ])
        return (scene, try #require(try scene.claim()))
    }

    private static let groups = [
        Scene.group(alone(raw, .photo)), Scene.group(alone(video, .video)),
        Scene.group(jpeg, edit, verdict: Problem(.corrupt, "A.JPG is damaged.")),
    ]

    @Test func `becomes one for each, in its batch, in order, and every file has exactly one`() throws {
        let (scene, claim) = try scene()
        let new = try scene.store.part(claim, into: Self.groups, at: Scene.at(1))
        #expect(new.count == 2)
        let jobs = try ([claim.job.id] + new).map { try #require(try scene.store.job($0)) }
        #expect(jobs.map(\.files) == Self.groups.map(\.files))
        #expect(jobs.map(\.state) == [.queued, .queued, .failed])
        #expect(jobs[2].problem == Problem(.corrupt, "A.JPG is damaged."))
        #expect(jobs.map(\.attempts) == [0, 0, 0])
        #expect(Set(jobs.map(\.batch)) == [claim.job.batch])
        let batch = try #require(try scene.store.batch(claim.job.batch))
        #expect((batch.total, batch.done, batch.failed) == (4, 1, 1))
        // By their names: A.CR2, A.JPG, A.MOV, B.JPG; the parted job keeps the place that it had.
        let sequences = try scene.store.jobs(JobFilter(), limit: 10).items.map(\.sequence).sorted()
        #expect(sequences == [1, 2, 3, 4])
        for file in [Self.jpeg, Self.raw, Self.video, Self.edit] { #expect(try scene.isKnown(file)) }
        #expect(try scene.number("SELECT count(*) FROM job_file") == 5)
        #expect(try scene.number("SELECT count(*) FROM job_file WHERE is_current = 1") == 5)
        let whole = Scene.group(Self.jpeg, Self.raw, Self.video, Self.edit)
        #expect(try scene.enqueue([whole]).isEmpty)
        #expect(try scene.claim("next")?.job.id == claim.job.id)
    }

    @Test func `is waited for as a whole by a member that came before it was parted, and does not wait for that`()
        throws
    {
        let (scene, claim) = try scene()
        let sidecar = try scene.enqueue([Scene.group(Scene.file("/card/A.xmp", role: .sidecar))], at: 1)[0]
        let photo = try scene.enqueue([Scene.group(Scene.file("/card/A.HEIC"))], at: 2)[0]
        let groups = [
            Scene.group(Self.jpeg, Self.edit), Scene.group(Self.alone(Self.raw, .photo)),
            Scene.group(Self.alone(Self.video, .video)),
        ]
        let parts = [claim.job.id] + (try scene.store.part(claim, into: groups, at: Scene.at(3)))
        #expect(parts.dropFirst().allSatisfy { $0 > photo })
        var claims: [Job.ID: Store.Claim] = [:]
        while let claim = try scene.claim("import-\(claims.count)") { claims[claim.job.id] = claim }
        func waits(_ job: Job.ID) throws -> Job.ID? {
            try scene.store.unfinishedShot(before: try #require(claims[job]?.job))
        }
        for part in parts {
            #expect(try waits(part) == nil)
            #expect(try [sidecar, photo].map(waits) == [part, part])
            try scene.store.finish(
                try #require(claims[part]), as: .duplicate, problem: nil, asset: nil, disposition: .keep,
                at: Scene.start)
        }
        #expect(try waits(photo) == nil)
        #expect(try waits(sidecar) == nil)
    }

    @Test func `is left as it is by an import that has lost it`() throws {
        let (scene, claim) = try scene()
        try scene.store.giveBack(claim)
        #expect(throws: Problem.self) { try scene.store.part(claim, into: Self.groups, at: Scene.at(1)) }
        #expect(try scene.store.job(claim.job.id)?.files.count == 4)
        #expect(try scene.number("SELECT count(*) FROM job") == 2)
    }

    @Test func `has its broken file taken over once that is replaced`() throws {
        let (scene, claim) = try scene()
        let new = try scene.store.part(claim, into: Self.groups, at: Scene.at(1))
        var whole = Self.jpeg
        whole.stamp.mtime = 2
        let ids = try scene.enqueue([Scene.group(whole, Self.edit)])
        #expect(try scene.store.job(try #require(ids.first))?.files == [whole, Self.edit])
        #expect(try scene.store.job(new[1])?.state == .vanished)
    }
}
