internal import Glibc
internal import PhotoModel

/// The two streams of the program: data goes to standard output, everything else to standard error.
///
/// Used by one thread only.
final class Console {
    enum Colour: String, CaseIterable { case auto, always, never }

    /// How each stream may be decorated, found out once at the start.
    let output: Sink
    let errors: Sink
    /// Whether characters beyond ASCII may be used for bars and marks.
    let hasUnicode: Bool
    private(set) var isQuiet = false
    private(set) var showsProgress = true
    private var buffer: [UInt8] = []
    /// Puts the terminal in order; run before the program ends in the middle of something.
    var atEnd: () -> Void = {}

    /// One stream and what it can show.
    struct Sink {
        let number: Int32
        let isTerminal: Bool
        var hasColour: Bool
    }

    init() {
        let isDumb = environment("TERM") == "dumb"
        func sink(_ number: Int32) -> Sink {
            let isTerminal = isatty(number) == 1
            // https://no-color.org: set to anything but nothing.
            let wantsNone = !(environment("NO_COLOR") ?? "").isEmpty
            return Sink(number: number, isTerminal: isTerminal, hasColour: isTerminal && !isDumb && !wantsNone)
        }
        output = sink(STDOUT_FILENO)
        errors = sink(STDERR_FILENO)
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environment).first { !$0.isEmpty } ?? ""
        let charset = locale.lowercased()
        hasUnicode = charset.contains("utf-8") || charset.contains("utf8")
        showsProgress = errors.isTerminal && !isDumb
    }

    private init(_ old: Console, colour: Colour, isQuiet: Bool, showsProgress: Bool) {
        var (output, errors) = (old.output, old.errors)
        if colour != .auto {
            output.hasColour = colour == .always
            errors.hasColour = colour == .always
        }
        self.output = output
        self.errors = errors
        hasUnicode = old.hasUnicode
        self.isQuiet = isQuiet
        self.showsProgress = showsProgress && old.showsProgress
    }

    /// The same console as the options want it.
    func with(colour: Colour, isQuiet: Bool, hasProgress: Bool) -> Console {
        Console(self, colour: colour, isQuiet: isQuiet, showsProgress: hasProgress && !isQuiet)
    }

    /// Adds a line to standard output; it is written at ``flush()``, or when there is much.
    func print(_ line: String = "") {
        buffer += Array(line.utf8)
        buffer.append(0x0A)
        if buffer.count > 1 << 16 { flush() }
    }

    func print(bytes: [UInt8]) {
        buffer += bytes
        if buffer.count > 1 << 16 { flush() }
    }

    func flush() {
        let bytes = buffer
        buffer.removeAll(keepingCapacity: true)
        write(bytes, to: STDOUT_FILENO)
    }

    /// A line for a person, to standard error; whatever stands on standard output before it is written first.
    func note(_ line: String) {
        flush()
        write(Array((line + "\n").utf8), to: STDERR_FILENO)
    }

    /// To standard error as it is, for cursor movements.
    func draw(_ text: String) { write(Array(text.utf8), to: STDERR_FILENO) }

    /// A stream whose reader is gone ends the program without a word, as SIGPIPE would; one that cannot be written
    /// (a full disk behind `> file`) ends it with one.
    private func write(_ bytes: [UInt8], to number: Int32) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(number, buffer.baseAddress.map { unsafe $0 + written }, bytes.count - written)
            }
            if count >= 0 {
                written += count
                continue
            }
            let reason = errno
            switch reason {
            case EINTR: continue
            case EAGAIN:
                var ready = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&ready, 1, -1)
            case EPIPE:
                atEnd()
                exit(128 + SIGPIPE)
            default:
                if number == STDERR_FILENO { return }  // nowhere left to say it
                atEnd()
                let text = unsafe String(cString: strerror(reason))
                write(Array("photospool: Could not write to standard output: \(text).\n".utf8), to: STDERR_FILENO)
                exit(ExitStatus.failed.rawValue)
            }
        }
    }
}

/// A variable of the environment; nil when it is not set.
func environment(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
}
