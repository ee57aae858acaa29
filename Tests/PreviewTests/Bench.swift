import Files
import Glibc
import PhotoModel
import Synchronization

@testable import Preview

/// A pool over a decoder of the test's choice, and files to hand to it.
struct Bench {
    /// The folder that SwiftPM builds programs into: the test runs from there.
    static let programs = target(of: "/proc/self/exe").parent

    private static func target(of link: String) -> Path {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink(link, &buffer, buffer.count)
        return Path(bytes: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) })
    }

    private static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            names.append(
                unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                    unsafe String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
                })
        }
        return names
    }

    let pool: DecoderPool
    let lines = Lines()

    final class Lines: Sendable {
        let all = Mutex<[LogLine]>([])
    }

    init(
        _ program: Path = programs / "decoder-double", movies: Path? = nil, size: Int = 1,
        deadline: Duration = .seconds(20), memory: DecoderMemory? = nil
    ) {
        let lines = lines
        pool = DecoderPool(program: program, movies: movies, size: size, deadline: deadline, memory: memory) { line in
            lines.all.withLock { $0.append(line) }
        }
    }

    static func file(_ text: String) throws -> Descriptor {
        let file = try memoryFile("bench")
        try file.write(Array(text.utf8))
        return file
    }

    func inspect(_ text: String, isCancelled: () -> Bool = { false }) throws -> Inspection {
        let file = try Bench.file(text)
        return try pool.inspect(
            file, size: Int64(text.utf8.count), name: Path("/drop/IMG_1.JPG"), isCancelled: isCancelled)
    }

    func preview(
        _ text: String, spec: PreviewSpec = PreviewSpec(), inspection: Inspection = Inspection(mediaType: .jpeg)
    ) throws -> DecodedPreview {
        let file = try Bench.file(text)
        return try pool.preview(
            file, size: Int64(text.utf8.count), inspection: inspection, spec: spec,
            name: Path("/drop/IMG_1.JPG"), isCancelled: { false })
    }

    /// The code of what `body` throws; nil when it throws nothing, or was cancelled.
    static func code(_ body: () throws -> Void) -> Problem.Code? { problem(body)?.code }

    static func problem(_ body: () throws -> Void) -> Problem? {
        do {
            try body()
        } catch DecoderFailure.problem(let problem) {
            return problem
        } catch {}  // the caller compares with a code, which nil is not
        return nil
    }

    /// What of ours is open: memory files by their names.
    static var openMemoryFiles: Int {
        names(in: "/proc/self/fd").count { target(of: "/proc/self/fd/" + $0).shown.contains("memfd:photospool-") }
    }

    /// Our children that run the double, dead but not waited for included: field 4 of proc_pid_stat(5) is the parent.
    static var decoders: Int {
        names(in: "/proc").count { name in
            let file = unsafe open("/proc/\(name)/stat", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            var text = [UInt8](repeating: 0, count: 512)
            let count = unsafe read(file, &text, text.count)
            let stat = String(decoding: text.prefix(max(0, count)), as: UTF8.self)
            guard stat.contains("(decoder-double)"), let rest = stat.split(separator: ")").last else { return false }
            return rest.split(separator: " ").dropFirst().first == "\(getpid())"[...]
        }
    }
}
