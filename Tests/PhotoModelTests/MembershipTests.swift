import PhotoModel
import Testing

@Suite("The files of one asset") struct MembershipTests {
    private func member(_ role: Role, _ type: MediaType, _ name: String = "") -> Membership.Member {
        Membership.Member(role: role, mediaType: type, pathExtension: name)
    }

    @Test func `have one photo and one paired video, the first that came`() {
        let members = [
            member(.photo, .jpeg, "jpg"), member(.photo, .heic, "heic"), member(.video, .avi, "avi"),
            member(.video, .quicktime, "mov"), member(.pairedVideo, .mp4, "mp4"), member(.sidecar, .xmp, "xmp"),
        ]
        #expect(
            Membership.roles(of: members) == [.photo, .alternatePhoto, .video, .video, .pairedVideo, .sidecar])
        #expect(
            Membership.roles(of: Array(members.prefix(4))) == [.photo, .alternatePhoto, .video, .pairedVideo])
    }

    @Test func `are no pair without a still`() {
        let members = [member(.pairedVideo, .quicktime, "mov"), member(.thumbnail, .jpeg, "thm")]
        #expect(Membership.roles(of: members) == [.video, .thumbnail])
        #expect(Membership.kind(of: members, isScreenshot: false) == .video)
    }

    @Test func `make an asset of the kind that they are together`() {
        let raw = member(.photo, .raw, "cr2")
        let jpeg = member(.alternatePhoto, .jpeg, "jpg")
        let video = member(.pairedVideo, .quicktime, "mov")
        #expect(Membership.kind(of: [raw], isScreenshot: false) == .raw)
        #expect(Membership.kind(of: [raw, jpeg], isScreenshot: false) == .photo)
        #expect(Membership.kind(of: [raw, jpeg, video], isScreenshot: false) == .livePhoto)
        #expect(Membership.kind(of: [jpeg], isScreenshot: true) == .screenshot)
        #expect(Membership.kind(of: [member(.sidecar, .xmp)], isScreenshot: false) == .photo)
    }
}
