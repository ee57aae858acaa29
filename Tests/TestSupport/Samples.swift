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

    /// As much of a DNG as says that it is one, taken at a time as EXIF writes it (`2026:05:17 09:04:31`): nothing can be
    /// decoded from it. Another `number`, other bytes.
    package static func raw(at time: String, number: Int = 0) -> Data {
        func little(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        // DateTime, text of 20 bytes behind the directory; DNGVersion 1.4.
        let dateTime = little(0x132, 2) + little(2, 2) + little(20, 4) + little(8 + 2 + 24 + 4, 4)
        let version = little(0xC612, 2) + little(1, 2) + little(4, 4) + [1, 4, 0, 0]
        let directory = little(2, 2) + dateTime + version + little(0, 4)
        return Data(Array("II".utf8) + little(42, 2) + little(8, 4) + directory + Array(time.utf8) + [0])
            + Data("sensor \(number)".utf8)
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
