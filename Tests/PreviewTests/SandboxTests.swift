import DecoderWire
import Files
import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import Preview

extension DecoderTests {
    /// With the program that is installed, not with a double.
    @Suite("The decoder's sandbox", .timeLimit(.minutes(5))) struct SandboxTests {
        private static let program = Bench.programs / "photospool-decoder"

        @Test func `refuses all that a taken-over decoder would try`() throws {
            let (text, status) = try run("--self-test")
            let lines = text.split(separator: "\n").map(String.init)
            #expect(
                lines == [
                    "exec: killed (SIGSYS)", "open: refused: permission denied (EACCES)", "socket: killed (SIGSYS)",
                    "fork: killed (SIGSYS)", "ptrace: killed (SIGSYS)", "kill: killed (SIGSYS)",
                    "execute-memory: killed (SIGSYS)", "write-too-much: refused: file too large (EFBIG)",
                    "The sandbox holds.",
                ])
            #expect(status == 0)
        }

        @Test func `gives no picture for what is none, and lives on`() throws {
            let bench = Bench(Self.program)
            defer { bench.pool.stop() }
            #expect(try bench.inspect("hello").mediaType == .unknown)
            #expect(Bench.code { _ = try bench.preview("hello") } == .corrupt)
            #expect(Bench.code { _ = try bench.preview("") } == .empty)
            #expect(bench.lines.all.withLock { $0.isEmpty })
            #expect(bench.pool.decoderVersion?.contains("libheif") == true)
        }

        /// Every file that must have a preview gets one behind the seccomp list, with not one decoder lost. A library's call
        /// that the list does not know would show here as a death by SIGSYS.
        @Test func `lets every file of the corpus through without losing a decoder`() throws {
            let bench = Bench(Self.program, deadline: .seconds(60))
            defer { bench.pool.stop() }
            for (path, mustHavePreview) in Self.photos() {
                var problem: Problem?
                do {
                    let longest = try Self.longestSide(of: path, bench)
                    #expect(longest <= 1200, "\(path)")
                } catch DecoderFailure.problem(let found) {
                    problem = found
                }
                #expect(![.decoderCrash, .decoderMissing, .decodeTimeout].contains(problem?.code), "\(path)")
                #expect(problem == nil || !mustHavePreview, "\(path): \(problem?.whatHappened ?? "")")
            }
            let deaths = bench.lines.all.withLock { $0.map { $0.fields.map(\.1) } }
            #expect(deaths.isEmpty)
        }

        /// Of the preview; 0 for what is no still.
        private static func longestSide(of path: String, _ bench: Bench) throws -> Int {
            let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { throw Errno.last }
            let file = Descriptor(adopting: number)
            let size = try file.status().stamp.size
            let inspection = try bench.pool.inspect(file, size: size, name: Path(path), isCancelled: { false })
            guard inspection.mediaType.isStill else { return 0 }
            let preview = try bench.pool.preview(
                file, size: size, inspection: inspection, spec: PreviewSpec(), name: Path(path), isCancelled: { false })
            return max(preview.size.width, preview.size.height)
        }

        /// Path, and whether it is a whole photo of a common kind; what is right for the others, the tests of Codecs say.
        private static func photos() -> [(String, Bool)] {
            let variable = unsafe getenv("PHOTOSPOOL_CORPUS").map { unsafe String(cString: $0) }
            let package = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
            let folders = [variable, package + "/../shared/corpus"].compactMap { $0 }
            guard let folder = folders.first(where: { unsafe access($0 + "/MANIFEST.tsv", R_OK) == 0 }),
                let manifest = try? Descriptor(adopting: unsafe open(folder + "/MANIFEST.tsv", O_RDONLY | O_CLOEXEC))
                    .readAll(limit: 1 << 24)
            else {
                print("skipped: every file of the corpus behind the sandbox (no corpus)")
                return []
            }
            return String(decoding: manifest, as: UTF8.self).split(separator: "\n").dropFirst().map { line in
                let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
                let isCommon = ["jpeg/", "jpeg-orientation/", "heic/", "avif/", "png/"].contains {
                    fields[0].hasPrefix($0)
                }
                return (folder + "/" + fields[0], isCommon && fields.contains("import+preview"))
            }
        }

        private func run(_ argument: String) throws -> (text: String, status: Int32) {
            let command = "'" + Self.program.shown + "' " + argument + " 2>&1"
            guard let pipe = unsafe popen(command, "re") else { throw Errno.last }
            var bytes: [UInt8] = []
            while case let byte = unsafe getc(pipe), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
            return (String(decoding: bytes, as: UTF8.self), unsafe pclose(pipe) >> 8 & 0xff)
        }
    }
}
