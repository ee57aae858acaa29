import Files
import Ingest
import PhotoModel

/// An ASC MHL 2.0 manifest: XML of the namespace `urn:ASC:MHL:v2.0`, `flatten`, because it lies apart from what it lists.
/// See <https://github.com/ascmitc/mhl-specification>.
struct MediaHashList {
    let head: [UInt8]
    let tail = Array("  </hashes>\n</hashlist>\n".utf8)

    init(hostName: String, at now: Timestamp) {
        head = Array(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <hashlist version="2.0" xmlns="urn:ASC:MHL:v2.0">
              <creatorinfo>
                <creationdate>\(now.rfc3339)</creationdate>
                <hostname>\(Self.escaped(hostName) ?? "unknown")</hostname>
                <tool version="\(Release.version)">photospool</tool>
              </creatorinfo>
              <processinfo>
                <process>flatten</process>
              </processinfo>
              <hashes>

            """.utf8)
    }

    /// The file is read again: what is not as the catalog says is a finding, and is not vouched for.
    func entry(
        for resource: Resource, in library: Library, _ run: OperationRun, at now: Timestamp
    ) throws(OperationRun.Ended) -> [UInt8]? {
        let name = SafeText.of(resource.path)
        guard resource.path.isText, let path = Self.escaped(resource.path.shown) else {
            run.find(Operation.Finding("unlisted", path: resource.path, "The name \(name) cannot be written as XML."))
            return nil
        }
        do throws(CopyFailure) {
            let file: Descriptor
            do throws(Errno) { file = try library.root.openForReading(resource.path) } catch {
                throw .destination(error)
            }
            let (content, c4) = try readBackWithC4(file, isCancelled: { run.isEnding })
            guard content.sha256 == resource.sha256 else {
                run.find(
                    Operation.Finding(
                        "changed", path: resource.path, "\(name) no longer holds the bytes that were imported."))
                return nil
            }
            let modified = Timestamp(nanoseconds: resource.mtime).rfc3339
            return Array(
                """
                    <hash>
                      <path size="\(resource.size)" lastmodificationdate="\(modified)">\(path)</path>
                      <c4 action="original" hashdate="\(now.rfc3339)">\(c4)</c4>
                    </hash>

                """.utf8)
        } catch {
            switch error {
            case .cancelled: try run.check()
            case .source(let errno), .destination(let errno):
                run.find(Operation.Finding("unreadable", path: resource.path, "\(name) could not be read: \(errno)."))
            }
            return nil
        }
    }

    /// nil for what XML 1.0 has no way to write: control characters.
    static func escaped(_ text: String) -> String? {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\t", "\n", "\r": result += "&#\(scalar.value);"
            default:
                guard scalar.value >= 0x20, scalar.value != 0xFFFE, scalar.value != 0xFFFF else { return nil }
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
