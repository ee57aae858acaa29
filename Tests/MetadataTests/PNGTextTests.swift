import CZlib
import Metadata
import PhotoModel
import Testing

/// Chunks as in PNG, third edition; the hexadecimal form as ImageMagick and libavif write it.
@Suite("Texts of a PNG") struct PNGTextTests {
    private static let block = TIFFWriter.block([
        0x10F: .text("Canon"), 0x110: .text("EOS 450D"), 0x8769: .directory([0x9003: .text("2017:06:05 04:03:02")]),
    ])

    private static func number(_ value: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(value >> ($0 * 8) & 255) } }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        number(content.count) + Array(type.utf8) + content + number(0)  // nobody checks the sum
    }

    private static func png(_ chunks: [UInt8]) -> ByteSource {
        let signature: [UInt8] = [0x89] + Array("PNG\r\n".utf8) + [0x1A, 0x0A]
        let header = chunk("IHDR", number(4) + number(3) + [8, 2, 0, 0, 0])
        return ByteSource(signature + header + chunks + chunk("IEND", []))
    }

    /// - Parameter padding: blanks between the length and the first digit.
    private static func profile(_ bytes: [UInt8], name: String = "exif", padding: Int = 0) -> [UInt8] {
        var text = "\n\(name)\n    \(bytes.count)\n" + String(repeating: " ", count: padding)
        for (position, byte) in bytes.enumerated() {
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16) + (position % 36 == 35 ? "\n" : "")
        }
        return Array(text.utf8)
    }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var target = [UInt8](repeating: 0, count: Int(compressBound(uLong(bytes.count))))
        var count = uLong(target.count)
        guard unsafe compress(&target, &count, bytes, uLong(bytes.count)) == Z_OK else { return [] }
        return Array(target.prefix(Int(count)))
    }

    private static func text(_ keyword: String) -> [UInt8] { Array(keyword.utf8) + [0] }

    private static let forms: [(String, [UInt8])] = [
        ("eXIf", chunk("eXIf", block)),
        ("tEXt", chunk("tEXt", text("Raw profile type exif") + profile(block))),
        ("zTXt", chunk("zTXt", text("Raw profile type exif") + [0] + deflated(profile(block)))),
        (
            "zTXt, APP1",
            chunk(
                "zTXt",
                text("Raw profile type APP1") + [0]
                    + deflated(profile(Array("Exif\0\0".utf8) + block, name: "generic profile")))
        ),
        ("iTXt", chunk("iTXt", text("Raw profile type exif") + [0, 0, 0, 0] + profile(block))),
        (
            "iTXt, compressed",
            chunk("iTXt", text("Raw profile type exif") + [1, 0] + Array("en\0Exif\0".utf8) + deflated(profile(block)))
        ),
    ]

    @Test(arguments: forms) func `hold EXIF`(form: (name: String, chunk: [UInt8])) {
        let inspection = Inspector.inspect(Self.png(form.chunk))
        #expect(inspection.facts.make == "Canon")
        #expect(inspection.facts.model == "EOS 450D")
        #expect(inspection.dates.map(\.time.text) == ["2017-06-05T04:03:02"])
        #expect(inspection.facts.size == PixelSize(width: 4, height: 3))
    }

    @Test func `hold XMP`() {
        let packet = Array("<x:xmpmeta><rdf:Description tiff:Make=\"Leica\"/></x:xmpmeta>".utf8)
        let chunks = [
            Self.chunk("iTXt", Self.text("XML:com.adobe.xmp") + [0, 0, 0, 0] + packet),
            Self.chunk("iTXt", Self.text("XML:com.adobe.xmp") + [1, 0, 0, 0] + Self.deflated(packet)),
            Self.chunk(
                "zTXt", Self.text("Raw profile type xmp") + [0] + Self.deflated(Self.profile(packet, name: "xmp"))),
        ]
        for chunk in chunks { #expect(Inspector.inspect(Self.png(chunk)).facts.make == "Leica") }
    }

    @Test func `are passed over when they are damaged, and the next one counts`() {
        let broken: [[UInt8]] = [
            Self.text("Raw profile type exif"), Self.text("Raw profile type exif") + [0],
            Self.text("Raw profile type exif") + [7] + Self.deflated(Self.profile(Self.block)),
            Self.text("Raw profile type exif") + [0, 0x78, 0x9C, 0xFF, 0xFF, 0xFF],
            Self.text("Raw profile type exif") + [0] + Self.deflated(Array("\nexif\n12".utf8)),
        ]
        let whole = Self.chunk(
            "zTXt", Self.text("Raw profile type exif") + [0] + Self.deflated(Self.profile(Self.block)))
        for content in broken {
            #expect(Inspector.inspect(Self.png(Self.chunk("zTXt", content))).facts.make == nil)
            #expect(Inspector.inspect(Self.png(Self.chunk("zTXt", content) + whole)).facts.make == "Canon")
        }
        #expect(Inspector.inspect(Self.png(Self.chunk("iTXt", Self.text("XML:com.adobe.xmp") + [1]))).dates.isEmpty)
    }

    @Test func `are inflated to a MiB each and no more, and not for ever`() {
        for (padding, make) in [(900_000, "Canon"), (1 << 20, nil)] {
            let text = Self.deflated(Self.profile(Self.block, padding: padding))
            let chunk = Self.chunk("zTXt", Self.text("Raw profile type exif") + [0] + text)
            #expect(Inspector.inspect(Self.png(chunk)).facts.make == make)
        }
        let bomb = Self.deflated([UInt8](repeating: UInt8(ascii: "0"), count: 64 << 20))
        let chunk = Self.chunk("zTXt", Self.text("Raw profile type exif") + [0] + bomb)
        let source = Self.png(Array(repeating: chunk, count: 200).flatMap { $0 })
        let spent = ContinuousClock().measure { #expect(Inspector.inspect(source).facts.make == nil) }
        #expect(spent < .seconds(20))
    }
}
