import Files
import Glibc
import PhotoModel
import Synchronization
import Testing

@testable import Preview

extension DecoderTests {
    /// One after the other, since they count what the process has open.
    @Suite("A decoder pool", .serialized, .timeLimit(.minutes(2))) struct DecoderPoolTests {
        @Test func `answers, and uses one decoder for many requests`() throws {
            let bench = Bench()
            defer { bench.pool.stop() }
            let first = try bench.inspect("answer").facts.model
            #expect(first?.hasPrefix("double ") == true)
            #expect(try bench.inspect("answer").facts.model == first)
            let preview = try bench.preview("answer")
            #expect(preview.size == PixelSize(width: 30, height: 20))
            #expect(preview.byteCount == 17)
            let isSealed = preview.bytes.isSealed
            #expect(isSealed)
            #expect(throws: Errno.self) { try preview.bytes.write([0]) }
        }

        @Test(arguments: [
            "segfault", "exit", "close", "nonsense", "long", "wrong-id", "descriptors", "many-descriptors",
            "other-kind",
        ])
        func `blames a file when two decoders fail on it, and then serves the next one`(deed: String) throws {
            let bench = Bench()
            defer { bench.pool.stop() }
            #expect(Bench.code { _ = try bench.inspect(deed) } == .decoderCrash)
            #expect(bench.lines.all.withLock { $0.count } == 2)
            #expect(try bench.inspect("answer").mediaType == .jpeg)
            #expect(bench.pool.isAvailable)
        }

        @Test(arguments: [
            "no-end", "no-jpeg", "other-pixels", "other-length", "huge-size", "comment", "location", "mapped",
        ])
        func `takes no preview that is not what was asked for`(deed: String) throws {
            let bench = Bench()
            defer { bench.pool.stop() }
            #expect(Bench.code { _ = try bench.preview(deed) } == .decoderCrash)
        }

        @Test func `does not blame a file when only one decoder fails on it`() throws {
            let bench = Bench()
            defer { bench.pool.stop() }
            let marker = "/tmp/photospool-once-\(getpid())-\(UInt64.random(in: 0 ... .max))"
            defer { unsafe unlink(marker) }
            let preview = try bench.preview("once " + marker)
            #expect(preview.byteCount == 17)
            #expect(bench.lines.all.withLock { $0.count } == 1)
        }

        @Test(arguments: ["hang", "spin"]) func `ends a decoder at the deadline, once`(deed: String) throws {
            let bench = Bench(deadline: .milliseconds(300))
            defer { bench.pool.stop() }
            #expect(try bench.inspect("answer").mediaType == .jpeg)
            let clock = ContinuousClock()
            let spent = clock.measure { #expect(Bench.code { _ = try bench.inspect(deed) } == .decodeTimeout) }
            #expect(spent >= .milliseconds(300))
            #expect(spent < .seconds(10))
            #expect(try bench.inspect("answer").mediaType == .jpeg)
        }

        @Test func `J04 does not blame a file for a decoder that somebody stopped`() throws {
            let bench = Bench(deadline: .milliseconds(300))
            defer { bench.pool.stop() }
            let marker = "/tmp/photospool-stopped-\(getpid())-\(UInt64.random(in: 0 ... .max))"
            defer { unsafe unlink(marker) }
            let preview = try bench.preview("stopped " + marker)
            #expect(preview.byteCount == 17)
            #expect(bench.lines.all.withLock { $0.count } == 1)
        }

        @Test func `gives a hanging decoder up when the import is cancelled`() throws {
            let bench = Bench(deadline: .seconds(100))
            defer { bench.pool.stop() }
            var looks = 0
            #expect(throws: DecoderFailure.cancelled) {
                _ = try bench.inspect("hang") {
                    looks += 1
                    return looks > 3
                }
            }
            #expect(Bench.decoders == 0)
        }

        @Test func `hands on what a decoder says of a file, made harmless`() throws {
            let bench = Bench()
            defer { bench.pool.stop() }
            do {
                _ = try bench.inspect("corrupt")
                Issue.record("it did not throw")
            } catch DecoderFailure.problem(let problem) {
                #expect(problem.code == .corrupt)
                #expect(problem.whatHappened.contains("IMG_1.JPG"))
                #expect(problem.whatHappened.contains("no\u{FFFD}thing"))
            }
        }

        @Test func `logs a dying decoder's last words without their control characters`() throws {
            let bench = Bench()
            defer { bench.pool.stop() }
            #expect(Bench.code { _ = try bench.inspect("talk") } == .decoderCrash)
            let words = bench.lines.all.withLock { $0.flatMap(\.fields).filter { $0.0 == "DECODER_SAID" }.map(\.1) }
            #expect(words.first?.contains("Fatal error: \u{FFFD}[31mred") == true)
        }

        @Test func `says that there is no decoder, and asks again only after a while`() throws {
            let bench = Bench(Path("/nonexistent/photospool-decoder"))
            defer { bench.pool.stop() }
            #expect(bench.pool.isAvailable)
            #expect(Bench.code { _ = try bench.inspect("answer") } == .decoderMissing)
            #expect(!bench.pool.isAvailable)
            #expect(bench.pool.problem?.whatHappened.contains("ENOENT") == true)
            #expect(!bench.pool.probe())
            #expect(bench.lines.all.withLock { $0.count } == 1)
        }

        @Test func `says what a decoder says that cannot lock itself in`() throws {
            let script = "/tmp/photospool-refuse-\(getpid())-\(UInt64.random(in: 0 ... .max))"
            let file = unsafe open(script, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o700)
            let text = "#!/bin/sh\nexec \"\((Bench.programs / "decoder-double").shown)\" refuse\n"
            _ = unsafe write(file, text, text.utf8.count)
            close(file)
            defer { unsafe unlink(script) }
            let bench = Bench(Path(script))
            defer { bench.pool.stop() }
            #expect(Bench.code { _ = try bench.inspect("answer") } == .decoderMissing)
            #expect(bench.pool.problem?.whatHappened.contains("landlock is not there") == true)
            #expect(!bench.pool.isAvailable)
        }

        @Test func `replaces a decoder that died while idle without blaming anybody`() throws {
            let bench = Bench()
            defer { bench.pool.stop() }
            let model = try #require(try bench.inspect("answer").facts.model)
            let pid = try #require(pid_t(model.dropFirst("double ".count)))
            kill(pid, SIGKILL)
            // It is dead once it can be waited for; the pool shall do that, so it is only looked at.
            var info = unsafe siginfo_t()
            #expect(unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == 0)
            #expect(try bench.inspect("answer").facts.model != model)
            #expect(bench.lines.all.withLock { $0.isEmpty })
        }

        @Test func `leaves neither zombies nor open files, whatever happens`() throws {
            for deed in ["answer", "segfault", "nonsense", "descriptors", "mapped", "comment"] {
                let bench = Bench()
                _ = Bench.code { _ = try bench.preview(deed) }
                _ = Bench.code { _ = try bench.inspect(deed) }
                bench.pool.stop()
            }
            #expect(Bench.openMemoryFiles == 0)
            #expect(Bench.decoders == 0)
        }

        @Test func `throws cancelled once it is stopped`() throws {
            let bench = Bench()
            bench.pool.stop()
            #expect(throws: DecoderFailure.cancelled) { _ = try bench.inspect("answer") }
        }
    }
}
