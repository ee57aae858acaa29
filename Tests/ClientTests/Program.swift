import FakeService
import Glibc

/// The program as it was built, run as a person runs it.
struct Program {
    struct Result {
        var status: Int32
        var output: String
        var errors: String
    }

    /// Beside the test bundle.
    static let path: String = {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/photospool"
    }()

    /// Runs to the end with nothing on standard input.
    static func run(
        _ arguments: [String], socket: String? = nil, environment: [String: String] = [:]
    ) throws -> Result {
        var running = try Running(arguments, socket: socket, environment: environment)
        return try running.finish()
    }

    /// A program under way.
    struct Running: ~Copyable {
        let process: pid_t
        private let output: Int32
        private let errors: Int32

        /// - Parameter errorDevice: a terminal for standard error; its output is then not part of the result.
        init(
            _ arguments: [String], socket: String? = nil, environment: [String: String] = [:],
            errorDevice: String? = nil
        ) throws {
            var variables = ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", "HOME": "/nonexistent"]
            if let socket { variables["PHOTOSPOOL_SOCKET"] = socket }
            variables.merge(environment) { _, new in new }
            let (outputReader, outputWriter) = try makePipe()
            let (errorReader, errorWriter) = try makePipe()
            var actions = unsafe posix_spawn_file_actions_t()
            unsafe posix_spawn_file_actions_init(&actions)
            defer { unsafe posix_spawn_file_actions_destroy(&actions) }
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            unsafe posix_spawn_file_actions_adddup2(&actions, outputWriter, 1)
            if let errorDevice {
                unsafe posix_spawn_file_actions_addopen(&actions, 2, errorDevice, O_RDWR | O_NOCTTY, 0)
            } else {
                unsafe posix_spawn_file_actions_adddup2(&actions, errorWriter, 2)
            }
            var process: pid_t = 0
            var words = unsafe ([Program.path] + arguments).map { unsafe strdup($0) } + [nil]
            var settings = unsafe variables.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
            let code = unsafe posix_spawn(&process, Program.path, &actions, nil, words, settings)
            while let word = unsafe words.popLast() { unsafe free(word) }
            while let setting = unsafe settings.popLast() { unsafe free(setting) }
            close(outputWriter)
            close(errorWriter)
            guard code == 0 else { throw FixtureFailure("posix_spawn of \(Program.path)", code) }
            self.process = process
            output = outputReader
            errors = errorReader
        }

        func signal(_ number: Int32) { kill(process, number) }

        /// Reads standard output until it holds `text`.
        func wait(for text: String) throws {
            var seen: [UInt8] = []
            while !String(decoding: seen, as: UTF8.self).contains(text) {
                guard let bytes = readSome(output) else { throw FixtureFailure("ended before '\(text)'") }
                seen += bytes
            }
        }

        func closeOutput() { close(output) }

        mutating func finish() throws -> Result {
            var (out, err): ([UInt8], [UInt8]) = ([], [])
            var open = [(output, true), (errors, true)]
            while open.contains(where: \.1) {
                var polled = open.map { pollfd(fd: $0.1 ? $0.0 : -1, events: Int16(POLLIN), revents: 0) }
                unsafe poll(&polled, 2, -1)
                for index in 0..<2 where polled[index].revents != 0 {
                    guard let bytes = readSome(open[index].0) else {
                        open[index].1 = false
                        continue
                    }
                    if index == 0 { out += bytes } else { err += bytes }
                }
            }
            var status: Int32 = 0
            while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
            close(output)
            close(errors)
            // 128 and the signal's number, as a shell says it.
            let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
            return Result(
                status: code, output: String(decoding: out, as: UTF8.self), errors: String(decoding: err, as: UTF8.self)
            )
        }
    }
}

private func makePipe() throws -> (Int32, Int32) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw FixtureFailure("pipe", errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}

private func readSome(_ descriptor: Int32) -> [UInt8]? {
    var chunk = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(descriptor, &chunk, chunk.count)
    return count > 0 ? Array(chunk.prefix(count)) : nil
}
