import PhotoModel
import Testing

@Suite("Natural order") struct NaturalOrderTests {
    @Test func `puts folders first and compares numbers as numbers`() {
        let sorted = [
            "/a/IMG_1.JPG", "/a/IMG_1a.JPG", "/a/IMG_2.JPG", "/a/IMG_02.JPG", "/a/IMG_10.JPG", "/a/IMG_10b1.JPG",
            "/a/IMG_10b10.JPG", "/a/IMG_99999999999999999999.JPG", "/a/IMG_100000000000000000000.JPG", "/a/b/IMG_0.JPG",
            "/a b/IMG_0.JPG", "/a2/x", "/a10/x",
        ].map(Path.init)
        for (index, left) in sorted.enumerated() {
            for (other, right) in sorted.enumerated() {
                #expect(NaturalOrder.precedes(left, right) == (index < other), "\(left.shown) \(right.shown)")
            }
        }
    }

    @Test func `keeps numbers where digits stand among the other bytes`() {
        #expect(NaturalOrder.precedes(Path("a-1"), Path("a1")))
        #expect(NaturalOrder.precedes(Path("a1"), Path("a_1")))
        #expect(NaturalOrder.precedes(Path("0"), Path("1")))
        #expect(NaturalOrder.precedes(Path("a"), Path("a0")))
    }

    @Test func `works on names of any bytes`() {
        #expect(NaturalOrder.precedes(Path(bytes: [0x61, 0xfe, 0x39]), Path(bytes: [0x61, 0xfe, 0x31, 0x30])))
        #expect(NaturalOrder.key(of: Path("x/1")) != NaturalOrder.key(of: Path("x/01")))
    }
}
