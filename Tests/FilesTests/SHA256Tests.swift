import Files
import PhotoModel
import Testing

@Suite("SHA-256") struct SHA256Tests {
    /// FIPS 180-2, appendix B, and the empty message of the NIST test vectors.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `of the standard's messages is the standard's digest`(message: String, digest: String) {
        #expect(SHA256.digest(of: Array(message.utf8)).hex == digest)
    }

    @Test func `of a million letters a, in uneven pieces, is the standard's digest`() {
        var hash = SHA256()
        var left = 1_000_000
        for size in [1, 63, 64, 65, 999, 100_000].cycled() {
            if left == 0 { break }
            let piece = min(size, left)
            hash.update([UInt8](repeating: UInt8(ascii: "a"), count: piece))
            left -= piece
        }
        let digest = hash.finish()
        #expect(digest.hex == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func `starts anew after it was finished`() {
        var hash = SHA256()
        hash.update(Array("something else".utf8))
        _ = hash.finish()
        hash.update(Array("abc".utf8))
        let digest = hash.finish()
        #expect(digest.hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test func `agrees with sha256sum about a large file`() throws {
        let place = try TemporaryFolder()
        let bytes = noise(3 << 20 | 17)
        try place.write(bytes, to: Path("noise"))
        let witness = try sha256sum(place.path / "noise")
        #expect(SHA256.digest(of: bytes).hex == witness)
        let content = try hash(place.folder.openForReading(Path("noise")))
        #expect(content == Content(sha256: SHA256.digest(of: bytes), byteCount: Int64(bytes.count)))
    }
}

extension Array {
    /// The elements over and over, without end.
    fileprivate func cycled() -> some Sequence<Element> {
        sequence(state: 0) { position in
            defer { position += 1 }
            return self[position % count]
        }
    }
}
