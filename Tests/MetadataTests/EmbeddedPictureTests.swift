import Foundation
import Metadata
import TestSupport
import Testing

/// Where a RAW's finished pictures lie; exiftool takes the same ones out.
@Suite("The pictures inside a RAW") struct EmbeddedPictureTests {
    private func exiftool(_ words: String...) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let out = folder.path + "/out"
        let script = "exec exiftool \"$@\" > \"$0\""
        let outcome = try Programs.run("/bin/sh", ["-c", script, out] + words)
        try #require(outcome.status == 0, "\(words): \(outcome.errors)")
        return Array(try Data(contentsOf: URL(filePath: out)))
    }

    private func pictures(_ bytes: [UInt8]) -> [[UInt8]] {
        EmbeddedPictures(ByteSource(bytes)).jpegs.map { Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)]) }
    }

    @Test func `E01 are those that exiftool takes out of real ones`() throws {
        var files = 0
        for row in try Corpus.rows(for: "pictures inside RAW files")
        where row.path.hasPrefix("raw/") && !row.path.contains("KODAK") {
            let bytes = try row.contents()
            let found = pictures(bytes)
            for tag in ["JpgFromRaw", "PreviewImage", "ThumbnailImage"] {
                let picture = try exiftool("-b", "-m", "-" + tag, row.absolutePath)
                // Of files that are only heads some have words in place of the picture.
                guard picture.starts(with: [0xFF, 0xD8, 0xFF]) else { continue }
                // A JPEG that stands in an EXIF of another JPEG is not the RAW's.
                guard tag != "ThumbnailImage" || found.contains(picture) || !row.path.hasSuffix(".raf") else {
                    continue
                }
                files += 1
                #expect(found.contains { $0 == picture }, "\(row.path): \(tag)")
            }
        }
        if files > 0 { #expect(files >= 8, "\(files)") }
    }

    /// Maker notes of real cameras, into which exiftool has put a picture. A JPEG from its EXIF on is a TIFF with more behind
    /// it, so the notes of bodies whose RAW files the corpus has not are tried as well.
    @Test(arguments: [
        "raw/Nikon.nef", "raw/Minolta.mrw", "jpeg/Olympus PEN E-P3.jpg", "jpeg/Pentax ist D.jpg",
    ])
    func `E01 are found by maker notes, too`(name: String) throws {
        guard let corpus = try Corpus.find(for: "pictures in maker notes") else { return }
        let folder = try TemporaryFolder()
        let (path, jpeg) = (folder.path + "/photo", folder.path + "/preview.jpg")
        try FileManager.default.copyItem(atPath: corpus.appending(path: name).path, toPath: path)
        _ = try Programs.run("/usr/bin/env", ["chmod", "u+w", path])
        _ = try Programs.run("/usr/bin/env", ["convert", "-size", "96x64", "gradient:red-blue", jpeg])
        _ = try exiftool("-q", "-m", "-overwrite_original", "-PreviewImage<=" + jpeg, path)
        let wanted = Array(try Data(contentsOf: URL(filePath: jpeg)))
        #expect(try exiftool("-b", "-PreviewImage", path) == wanted)
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        if bytes.starts(with: [0xFF, 0xD8]) {
            let start = try #require(Data(bytes).range(of: Data("Exif\0\0".utf8))).upperBound
            bytes = Array(bytes[start...])
        }
        #expect(pictures(bytes).contains(wanted))
        // As the cameras leave it: the first byte is another.
        let place = try #require(Data(bytes).range(of: Data(wanted))).lowerBound
        let isTabled = wanted[3] == 0xDB
        bytes[place] = 0x00
        bytes[place + 3] = 0xDB
        let found = EmbeddedPictures(ByteSource(bytes))
        #expect(found.beheaded.contains { Int($0.lowerBound) == place && $0.count == wanted.count }, "\(isTabled)")
    }

    @Test func `E01 are not looked for outside of the file`() throws {
        guard let corpus = try Corpus.find(for: "maker notes that are cut off") else { return }
        for name in ["raw/Nikon.nef", "raw/Minolta.mrw", "jpeg/Olympus PEN E-P3.jpg", "jpeg/Pentax ist D.jpg"] {
            var whole = Array(try Data(contentsOf: corpus.appending(path: name)).prefix(48 << 10))
            if whole.starts(with: [0xFF, 0xD8]) {
                whole = Array(whole[try #require(Data(whole).range(of: Data("Exif\0\0".utf8))).upperBound...])
            }
            for length in stride(from: 0, to: whole.count, by: 97) {
                for range in EmbeddedPictures(ByteSource(Array(whole[..<length]))).jpegs {
                    #expect(range.lowerBound >= 0 && range.upperBound <= Int64(length))
                }
            }
        }
    }
}
