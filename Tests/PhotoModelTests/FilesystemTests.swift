import PhotoModel
import Testing

@Suite("Two filesystems") struct FilesystemTests {
    @Test func `are of one slot when they are the same, or media that were put into it one after the other`() {
        let card: FilesystemID = "0000000000000811-9c1f33aa-7"
        #expect(isSameSlot(card, card))
        #expect(isSameSlot(card, "0000000000000811-9c1f33aa-9"))
        #expect(isSameSlot(card, "0000000000000811-d00d0000-7"))
        #expect(!isSameSlot(card, "0000000000000821-9c1f33aa-7"))
        #expect(!isSameSlot(card, "6d1f0c9a8b7e5432"))
        #expect(isSameSlot("6d1f0c9a8b7e5432", "6d1f0c9a8b7e5432"))
        #expect(!isSameSlot("6d1f0c9a8b7e5432", "6d1f0c9a8b7e5433"))
    }
}
