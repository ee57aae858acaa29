import PhotoModel
import Synchronization
import Testing

@testable import Preview

extension DecoderTests {
    @Suite("Memory of decoders", .serialized, .timeLimit(.minutes(2))) struct MemoryTests {
        private static func memory(_ budget: Int64, machine: Int64 = 8192) -> DecoderMemory {
            DecoderMemory(budget: .mebi(budget), machine: .mebi(machine))
        }

        /// Of a size that the header promises: 30 MiB, say, where the decoder then wants 300.
        private static var modest: Inspection {
            var inspection = Inspection(mediaType: .jpeg)
            inspection.coding.stored = PixelSize(width: 1600, height: 1200)
            return inspection
        }

        @Test(arguments: ["hungry", "starving"])
        func `is no more than the header promised, and four times as much when that was not enough`(deed: String) throws
        {
            let memory = Self.memory(512)
            let bench = Bench(memory: memory)
            defer { bench.pool.stop() }
            let preview = try bench.preview("\(deed) 300", inspection: Self.modest)
            #expect(preview.byteCount == 17)
            // The decoder that ended over it was replaced, and nobody blamed.
            let deaths = bench.lines.all.withLock { $0.count { $0.level == .warning } }
            #expect(deaths == (deed == "starving" ? 1 : 0))
            #expect(memory.taken == .zero)
        }

        @Test func `that nobody has makes a picture too large, not the file corrupt`() throws {
            let bench = Bench(memory: Self.memory(512))
            defer { bench.pool.stop() }
            let problem = Bench.problem { _ = try bench.preview("hungry 5000", inspection: Self.modest) }
            #expect(problem?.code == .tooLarge)
            // What docs/configuration.md promises to a second try, and advice that is about memory.
            #expect(problem?.whatHappened.contains("more than the 512 MiB of memory") == true)
            #expect(problem?.whatToDo.hasPrefix("Live without this preview") == true)
        }

        @Test func `that no picture gets is had by raising the budget`() throws {
            let bench = Bench(memory: Self.memory(64, machine: 800))
            defer { bench.pool.stop() }
            let problem = Bench.problem { _ = try bench.preview("hungry 5000", inspection: Self.modest) }
            #expect(problem?.code == .tooLarge)
            #expect(problem?.whatHappened.contains("more than the 400 MiB of memory") == true)
            #expect(problem?.whatToDo.hasPrefix("Raise import.memory_budget") == true)
        }

        @Test func `that the header asks for beyond all limits is refused before a decoder starts`() throws {
            let bench = Bench(memory: Self.memory(512, machine: 2048))
            defer { bench.pool.stop() }
            var huge = Inspection(mediaType: .jpegXL)
            huge.facts.size = PixelSize(width: 10_000, height: 10_000)
            let problem = Bench.problem { _ = try bench.preview("answer", inspection: huge) }
            #expect(problem?.code == .tooLarge)
            // Half of the machine; 100 MP of JPEG XL take 33 bytes a pixel and more.
            #expect(problem?.whatHappened.contains("1024 MiB") == true)
            #expect(Bench.decoders == 0)
        }

        /// What idle decoders and the daemon hold comes off: 32 MiB, and for each of 4 decoders an eighth of a quarter.
        @Test func `is shared less what idle decoders may keep, and under pressure less`() {
            let memory = Self.memory(2048)
            memory.expect(decoders: 4)
            let whole: Int64 = 2048 - 32 - 4 * 64
            #expect(memory.shared == .mebi(whole))
            memory.set(pressure: .init(stalled: 12))
            #expect(memory.shared == .mebi(whole / 2))
            memory.set(pressure: .init(stalled: 55.5))
            #expect(memory.shared == .mebi(whole / 4))
            memory.set(pressure: .init(stalled: 0))
            memory.set(budget: .mebi(64))
            #expect(memory.shared == .mebi(32))
        }
    }
}
