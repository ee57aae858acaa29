import PhotoModel
import Testing

@Suite("An asset that files join") struct JoiningTests {
    private func resource(_ name: String, _ role: Role, _ type: MediaType) -> Resource {
        Resource(
            role: role, path: Path(name), sourcePath: Path("/card/" + name), size: 1,
            sha256: SHA256Digest(bytes: Array(repeating: 1, count: 32)), mtime: 1, mediaType: type)
    }

    private func asset(_ kind: AssetKind, _ resources: [Resource], _ facts: Facts = Facts()) -> Asset {
        Asset(
            id: "a", kind: kind, collection: "card", facts: facts, resources: resources,
            preview: AssetPreview(state: .none), importedAt: Timestamp(seconds: 0))
    }

    private func facts(_ second: Int, make: String? = nil, isScreenshot: Bool = false) -> Facts {
        var facts = Facts()
        facts.capturedAt = WallTime(year: 2026, month: 5, day: 17, hour: 9, minute: 4, second: second)
        facts.make = make
        facts.isScreenshot = isScreenshot
        return facts
    }

    @Test func `keeps what it knew and learns what it did not`() {
        let photo = asset(.photo, [resource("1.JPG", .photo, .jpeg)], facts(31))
        let joined = photo.joined(
            by: [resource("1.DNG", .photo, .raw)], facts: facts(33, make: "Canon", isScreenshot: true), preview: nil)
        #expect(joined.resources.map(\.role) == [.photo, .alternatePhoto])
        #expect(joined.kind == .photo)
        #expect(joined.facts == facts(31, make: "Canon"))
    }

    @Test func `of a video is led by its first photo`() {
        let video = asset(.video, [resource("1.MOV", .video, .quicktime)], facts(31, make: "Apple", isScreenshot: true))
        let preview = AssetPreview(state: .ok, path: Path("p.jpg"))
        let joined = video.joined(by: [resource("1.HEIC", .photo, .heic)], facts: facts(32), preview: preview)
        #expect(joined.resources.map(\.role) == [.pairedVideo, .photo])
        #expect(joined.kind == .livePhoto)
        #expect(joined.facts == facts(32, make: "Apple"))
        #expect(joined.preview == preview)
        let again = joined.joined(
            by: [resource("1.xmp", .sidecar, .xmp)], facts: facts(50), preview: AssetPreview(state: .none))
        #expect(again.facts == joined.facts)
        #expect(again.preview == preview)
    }

    @Test func `gives each companion to the member of its name, and else to its photo`() throws {
        // A video, and the photo of another name that an equal content identifier made its other half.
        let all = [
            resource("AA.mov", .pairedVideo, .quicktime), resource("AA.xmp", .sidecar, .xmp),
            resource("AA.AAE", .adjustment, .appleAdjustment), resource("ZZ.jpg", .photo, .jpeg),
            resource("ZZ.AAE", .adjustment, .appleAdjustment), resource("ZZ.jpg.xmp", .sidecar, .xmp),
            resource("other.AAE", .adjustment, .appleAdjustment),
        ]
        func owner(_ name: String) throws -> Path? {
            Attachment.owner(of: try #require(all.first { $0.sourcePath.name.shown == name }), in: all)?.path
        }
        #expect(try owner("AA.xmp") == Path("AA.mov"))
        #expect(try owner("AA.AAE") == Path("AA.mov"))
        #expect(try owner("ZZ.AAE") == Path("ZZ.jpg"))
        #expect(try owner("ZZ.jpg.xmp") == Path("ZZ.jpg"))
        #expect(try owner("other.AAE") == Path("ZZ.jpg"))
        // Of one name, the photo late: it leads all the same.
        let late = [
            resource("1.MOV", .pairedVideo, .quicktime), resource("1.JPG", .photo, .jpeg),
            resource("1.AAE", .adjustment, .appleAdjustment),
        ]
        #expect(Attachment.owner(of: late[2], in: late)?.path == Path("1.JPG"))
    }

    @Test func `is the same when what it has learned is told again`() {
        let video = asset(.video, [resource("1.MOV", .video, .quicktime)], facts(31))
        let new = [resource("1.HEIC", .photo, .heic)]
        let once = video.joined(by: new, facts: facts(32, make: "Apple"), preview: nil)
        let again = video.joined(by: Array(once.resources.suffix(1)), facts: once.facts, preview: once.preview)
        #expect(again.resources == once.resources)
        #expect(again.facts == once.facts)
        #expect(again.kind == once.kind)
    }
}
