import Foundation
import PhotoModel
import Testing

@testable import Files

@Suite("The C4 ID of a file") struct C4Tests {
    /// The first is the one of SMPTE ST 2114 for nothing; the others by Python: `int.from_bytes(sha512(b).digest())` in
    /// base 58, padded with 1 to 88 letters.
    @Test(
        arguments: [
            ([], "c459dsjfscH38cYeXXYogktxf4Cd9ibshE3BHUo6a58hBXmRQdZrAkZzsWcbWtDg5oQstpDuni4Hirj75GEmTc1sFT"),
            (
                Array("foo".utf8),
                "c45xZeXwMSpqXjpDumcHMA6mhoAmGHkUo7r9WmN2UgSEQzj9KjgseaQdkEJ11fGb5S1WEENcV3q8RFWwEeVpC7Fjk2"
            ),
            (
                (0..<3_000_000).map { UInt8($0 * 7 % 251) },
                "c42DmZyfVHiaTK9SBo7q9eq3MWfoeepCsitvts6TwdaskjpmAVoH8CaVyqgRijKgvxTmjDsDg5tRRSjctiGjA347ud"
            ),
        ] as [([UInt8], String)])
    func `is SHA-512 in base 58`(bytes: [UInt8], id: String) throws {
        let place = try TemporaryFolder()
        let name = Path("file")
        let file = try place.folder.create(name)
        try file.write(bytes)
        try file.synchronize()
        let (content, c4) = try readBackWithC4(file.descriptor)
        #expect(c4 == id)
        #expect(content.sha256 == SHA256.digest(of: bytes))
        #expect(content.byteCount == Int64(bytes.count))
    }

    @Test func `keeps its length for a digest that begins with zeros`() {
        #expect(c4ID(of: Array(repeating: 0, count: 64)) == "c4" + String(repeating: "1", count: 88))
        #expect(c4ID(of: Array(repeating: 0, count: 63) + [57]) == "c4" + String(repeating: "1", count: 87) + "z")
    }
}
