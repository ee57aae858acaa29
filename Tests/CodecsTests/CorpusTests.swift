import Codecs
import PhotoModel
import TestSupport
import Testing

/// What the manifest says was found out by other tools: exiftool, vips, heif-info, avifdec.
@Suite("Photos of real cameras") struct CorpusTests {
    private static func type(_ format: String) -> MediaType? {
        switch format {
        case "JPEG": .jpeg
        case "HEIC": .heic
        case "HEIF": .heif
        case "AVIF": .avif
        case "PNG", "APNG": .png
        case "WEBP": .webp
        case "TIFF", "BTF": .tiff
        default: nil
        }
    }

    @Test(.timeLimit(.minutes(10))) func `all have a preview of exactly the right size`() throws {
        let decoder = try StillDecoder()
        for row in try Corpus.rows(for: "previews of real photos") where row["class"] == "import+preview" {
            guard let type = Self.type(row["format"]),
                let width = Int(row["display_width"]), let height = Int(row["display_height"])
            else { continue }
            let bytes = try row.contents()
            do throws(CodecFailure) {
                let result = try decoder.preview(
                    of: unsafe bytes.span.bytes, type: type, orientation: Int(row["orientation"]) ?? 1,
                    spec: PreviewSpec())
                let expected = PreviewGeometry.size(of: PixelSize(width: width, height: height), maxSize: 1200)
                #expect(result.size == expected, "\(row.path)")
                #expect(!result.isPartial, "\(row.path): \(result.warning ?? "")")
            } catch { Issue.record("\(row.path): \(error)") }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `that are broken end in a code or a part, and soon`() throws {
        let decoder = try StillDecoder()
        let clock = ContinuousClock()
        for row in try Corpus.rows(for: "broken photos") where ["reject", "partial decode"].contains(row["class"]) {
            let bytes = try row.contents()
            for type in [MediaType.jpeg, .heic, .avif, .png, .webp, .tiff, .gif, .jpegXL] {
                let start = clock.now
                let result = try? decoder.preview(  // any failure is right here; what counts is that it comes back
                    of: unsafe bytes.span.bytes, type: type, orientation: 1, spec: PreviewSpec())
                #expect(clock.now - start < .seconds(60), "\(row.path)")
                if row["class"] == "partial decode", Self.type(row["format"]) == type {
                    #expect(result != nil, "\(row.path)")
                }
            }
        }
    }
}
