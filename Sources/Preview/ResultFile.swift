import DecoderWire
import Files
import PhotoModel

/// The memory file that one attempt writes its JPEG to. Used by the calling thread only.
final class ResultFile {
    private var file: Descriptor?

    /// A new empty one in place of what another attempt may have left; its number stays this object's.
    func renew() throws(DecoderFailure) -> Int32 {
        do throws(Errno) {
            let fresh = try memoryFile("photospool-preview")
            let number = fresh.rawValue
            file = consume fresh
            return number
        } catch {
            throw .problem(.decoderResources(error))
        }
    }

    /// What is wrong with what the decoder wrote; nil for nothing.
    func fault(_ parts: [DecoderReply.Part], of format: ExportSpec.Format?) -> String? {
        guard let written = file.take() else { return "no result" }
        let fault: String?
        do throws(Errno) {
            fault = try ResultJPEG.fault(in: written, parts, of: format)
        } catch {
            fault = "a result that cannot be read: \(error.description)"
        }
        file = consume written
        return fault
    }

    func take() -> Descriptor? { file.take() }
}
