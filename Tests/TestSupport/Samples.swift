package import Foundation

/// The demo's pictures, which are the project's own, and small variations of them.
package enum Samples {
    package static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Demo/samples")

    /// A whole JPEG of 1600 x 1067, taken 2026-05-17T09:04:31.87+02:00 in Basel.
    package static let photo = folder.appending(path: "IMG_0001.JPG")
    /// Stored on its side, 1067 x 1600, with orientation 6.
    package static let turned = folder.appending(path: "IMG_0002.JPG")
    package static let heic = folder.appending(path: "IMG_0003.HEIC")
    /// A header, then nothing but 0xFF, and no end: for a minute it may still be arriving.
    package static let corrupt = folder.appending(path: "IMG_0004.JPG")

    /// ``corrupt`` with an end: nothing of it is still to come.
    package static func damaged() throws -> Data { try Data(contentsOf: corrupt) + Data([0xFF, 0xD9]) }

    /// As much of a DNG as says that it is one, taken, and saved, at a time as EXIF writes it (`2026:05:17 09:04:31`):
    /// nothing can be decoded from it. Another `number`, other bytes.
    package static func raw(at time: String, number: Int = 0) -> Data {
        func little(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        // DateTime and DateTimeOriginal, one text of 20 bytes behind the directory; DNGVersion 1.4.
        let times = [0x132, 0x9003].flatMap { tag in
            little(tag, 2) + little(2, 2) + little(20, 4) + little(8 + 2 + 36 + 4, 4)
        }
        let version = little(0xC612, 2) + little(1, 2) + little(4, 4) + [1, 4, 0, 0]
        let directory = little(3, 2) + times + version + little(0, 4)
        return Data(Array("II".utf8) + little(42, 2) + little(8, 4) + directory + Array(time.utf8) + [0])
            + Data("sensor \(number)".utf8)
    }

    /// As much of a QuickTime movie as says when it was taken (`2026-05-17T09:04:31+0200`), and to which photo it belongs:
    /// there is no picture in it. Another `number`, other bytes.
    package static func movie(at time: String, identifier: String? = nil, number: Int = 0) -> Data {
        func big(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) } }
        func box(_ type: [UInt8], _ content: [UInt8]) -> [UInt8] { big(8 + content.count) + type + content }
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] { box(Array(type.utf8), content) }
        var keys = [("com.apple.quicktime.creationdate", time)]
        if let identifier { keys.append(("com.apple.quicktime.content.identifier", identifier)) }
        let names = keys.flatMap { box("mdta", Array($0.0.utf8)) }
        let values = keys.enumerated().flatMap { index, key in
            box(big(index + 1), box("data", big(1) + big(0) + Array(key.1.utf8)))
        }
        let meta = box("keys", big(0) + big(keys.count) + names) + box("ilst", values)
        return Data(
            box("ftyp", Array("qt  ".utf8) + big(0)) + box("moov", box("meta", meta))
                + box("free", Array("film \(number)".utf8)))
    }

    /// The photo with an XMP packet in front (APP1; XMP specification, part 3) and something behind its end.
    /// - Parameter properties: of the description, up to where its content ends: `GCamera:MicroVideo="1">`.
    package static func motionPhoto(_ properties: String, trailer: some Collection<UInt8>) throws -> Data {
        let packet =
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF><rdf:Description \(properties)</rdf:Description></rdf:RDF>"
            + "</x:xmpmeta>"
        let content = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8)
        let length = content.count + 2
        let segment = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + content
        let photo = try Data(contentsOf: Samples.photo)
        return Data(photo.prefix(2) + segment + photo.dropFirst(2) + trailer)
    }

    /// The photo with `number` behind its end-of-image marker: same picture, other bytes, still a valid JPEG.
    package static func variant(_ number: Int) throws -> Data {
        var data = try Data(contentsOf: photo)
        data.append(contentsOf: Array("variant \(number)".utf8))
        return data
    }

    /// A whole JPEG of 64 x 48 and some 2 KB, where the number of photos matters; other bytes for each number, too.
    package static func small(_ number: Int) throws -> Data {
        var data = try smallest.get()
        data.append(contentsOf: Array("small \(number)".utf8))
        return data
    }

    private static let smallest = Result {
        let folder = try TemporaryFolder()
        let path = folder.path + "/small.jpg"
        let outcome = try Programs.run(
            "/usr/bin/env", ["convert", "-seed", "1", "-size", "64x48", "plasma:fractal", "-quality", "82", path])
        guard outcome.status == 0 else { throw Installation.Failure("convert: \(outcome.errors)") }
        return try Data(contentsOf: URL(filePath: path))
    }
}
