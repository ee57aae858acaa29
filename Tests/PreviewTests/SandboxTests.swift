import DecoderWire
import Files
import Glibc
import PhotoModel
import Synchronization
import TestSupport
import Testing

@testable import Preview

extension DecoderTests {
    /// With the program that is installed, not with a double.
    @Suite("The decoder's sandbox", .timeLimit(.minutes(5))) struct SandboxTests {
        private static let program = Bench.programs / "photospool-decoder"
        private static let movies = Bench.programs / "photospool-decoder-av"

        @Test(arguments: [program, movies])
        func `refuses all that a taken-over decoder would try`(program: Path) throws {
            let (text, status) = try run(program, "--self-test")
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

        /// The still decoder never sees a movie, whose own decoder need not be there.
        @Test(arguments: ["photospool-decoder-none", "photospool-decoder"])
        func `gives movies no picture, and advice, without a decoder for them`(name: String) throws {
            // One that is not there, and one that does not start: a folder of the decoders' is no program.
            let missing = name == "photospool-decoder" ? Path("/bin/false") : Bench.programs / name
            let bench = Bench(Self.program, movies: missing)
            defer { bench.pool.stop() }
            let file = try Bench.file("movie")
            let problem = Bench.problem {
                _ = try bench.pool.preview(
                    file, size: 5, inspection: Inspection(mediaType: .quicktime), spec: PreviewSpec(),
                    name: Path("/drop/IMG_1.MOV"), isCancelled: { false })
            }
            #expect(problem?.code == .unsupported)
            #expect(problem?.whatHappened.contains("photospool-decoder-av") == true)
            #expect(problem?.whatToDo.contains("Install photospool-decoder-av") == true)
            // Photos do not wait for it.
            #expect(bench.pool.isAvailable)
            #expect(try bench.inspect("hello").mediaType == .unknown)
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
            let bench = Bench(Self.program, movies: Self.movies, deadline: .seconds(60))
            defer { bench.pool.stop() }
            for row in try Corpus.rows(for: "every file of the corpus behind the sandbox") {
                var problem: Problem?
                do {
                    let longest = try Self.longestSide(of: row.absolutePath, bench)
                    #expect(longest <= 1200, "\(row.path)")
                } catch DecoderFailure.problem(let found) {
                    problem = found
                }
                #expect(![.decoderCrash, .decoderMissing, .decodeTimeout].contains(problem?.code), "\(row.path)")
                #expect(problem == nil || !Self.mustHavePreview(row), "\(row.path): \(problem?.whatHappened ?? "")")
            }
            let deaths = bench.lines.all.withLock { $0.map { $0.fields.map(\.1) } }
            #expect(deaths.isEmpty)
        }

        /// Of the preview; 0 for what is neither still nor movie.
        private static func longestSide(of path: String, _ bench: Bench) throws -> Int {
            let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { throw Errno.last }
            let file = Descriptor(adopting: number)
            let size = try file.status().stamp.size
            let inspection = try bench.pool.inspect(file, size: size, name: Path(path), isCancelled: { false })
            guard inspection.mediaType.isStill || inspection.mediaType.isVideo else { return 0 }
            let preview = try bench.pool.preview(
                file, size: size, inspection: inspection, spec: PreviewSpec(), name: Path(path), isCancelled: { false })
            return max(preview.size.width, preview.size.height)
        }

        /// Whether it is a whole photo of a common kind; what is right for the others, the tests of Codecs say.
        private static func mustHavePreview(_ row: Corpus.Row) -> Bool {
            if row.path.hasPrefix("video/") { return row["notes"].contains("ffmpeg decodes a frame") }
            return Self.isWholePhoto(row)
        }

        private static func isWholePhoto(_ row: Corpus.Row) -> Bool {
            row["class"] == "import+preview"
                && ["jpeg/", "jpeg-orientation/", "heic/", "avif/", "png/", "webp/", "tiff/", "raw/"].contains {
                    row.path.hasPrefix($0)
                }
        }

        private func run(_ program: Path, _ argument: String) throws -> (text: String, status: Int32) {
            // The checkout may lie anywhere, with quotes and spaces above it.
            let program = program.shown.replacing("'", with: "'\\''")
            let command = "'\(program)' \(argument) 2>&1"
            guard let pipe = unsafe popen(command, "re") else { throw Errno.last }
            var bytes: [UInt8] = []
            while case let byte = unsafe getc(pipe), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
            return (String(decoding: bytes, as: UTF8.self), unsafe pclose(pipe) >> 8 & 0xff)
        }
    }
}
