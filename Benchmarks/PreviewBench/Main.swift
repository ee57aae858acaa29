import Files
import Glibc
import PhotoModel
import Preview

/// Makes previews of files as the daemon does, with one sandboxed decoder, and nothing else: no copy, no catalog. What a
/// benchmark of previews alone is made with.
///
///     preview-bench DECODER OUT FILE ...     OUT is an empty folder; all paths are absolute
@main struct Main {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst().map { Path($0) }
        guard arguments.count > 2 else {
            say("usage: preview-bench DECODER OUT FILE ...")
            exit(64)
        }
        let pool = DecoderPool(program: arguments[0], size: 1, deadline: .seconds(30)) { say($0.sentence) }
        do {
            let out = try Folder(opening: arguments[1])
            for file in arguments[2...] { try preview(file, by: pool, into: out) }
        } catch DecoderFailure.problem(let problem) {
            say(problem.whatHappened)
            exit(1)
        } catch {
            say("\(error)")
            exit(1)
        }
        pool.stop()
    }

    private static func preview(_ path: Path, by pool: DecoderPool, into out: borrowing Folder) throws {
        let file = try Folder(opening: path.parent).openForReading(path.name)
        let size = try file.status().stamp.size
        let inspection = try pool.inspect(file, size: size, name: path.name, isCancelled: { false })
        let preview = try pool.preview(
            file, size: size, inspection: inspection, spec: PreviewSpec(), name: path.name, isCancelled: { false })
        let made = try out.create(path.name, mode: 0o644)
        try made.write(try preview.bytes.readAll(limit: Int(preview.byteCount)))
    }

    private static func say(_ sentence: String) {
        let bytes = Array((sentence + "\n").utf8)
        _ = unsafe write(STDERR_FILENO, bytes, bytes.count)  // words for a person, who sees if they do not come
    }
}
