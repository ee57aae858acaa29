internal import CSystemd
internal import Glibc
package import PhotoModel

/// One place for log lines, and its way of writing them.
package struct LogSink: Sendable {
    enum Form: Sendable, Equatable {
        /// journald, with every field as a field.
        case journal
        /// `<4>sentence KEY=value`: the priority in front, as sd-daemon(3) has it, for a manager without journald.
        case prefixed
        /// `warning: sentence KEY=value`, for people and pipes.
        case plain
    }

    let form: Form
    private let descriptor: Int32
    private let identifier: String

    init(form: Form, descriptor: Int32, identifier: String = "photospoold") {
        self.form = form
        self.descriptor = descriptor
        self.identifier = identifier
    }

    /// Standard error, or the journal itself when standard error leads there.
    package static func standardError() -> LogSink {
        let environment = { (name: String) in unsafe getenv(name).map { unsafe String(cString: $0) } }
        var status = stat()
        let known = unsafe fstat(STDERR_FILENO, &status) == 0
        let form = Self.form(
            journalStream: environment("JOURNAL_STREAM"),
            standardError: known ? (UInt64(status.st_dev), UInt64(status.st_ino)) : nil,
            isTerminal: isatty(STDERR_FILENO) == 1, isService: environment("INVOCATION_ID") != nil)
        return LogSink(form: form, descriptor: STDERR_FILENO)
    }

    /// sd_journal_sendv(3) says yes even when no journald listens: so only what `$JOURNAL_STREAM` (systemd.exec(5))
    /// promises, and only if standard error was not led elsewhere since.
    static func form(
        journalStream: String?, standardError: (device: UInt64, inode: UInt64)?, isTerminal: Bool, isService: Bool
    ) -> Form {
        if let journalStream, let standardError {
            let parts = journalStream.split(separator: ":").map { UInt64($0) }
            if parts == [standardError.device, standardError.inode] { return .journal }
        }
        return isService && !isTerminal ? .prefixed : .plain
    }

    package func write(_ line: LogLine) {
        if form == .journal, sendToJournal(line) { return }
        writeText((form == .plain ? "\(line.level.rawValue): " : "<\(line.level.severity)>") + Self.text(of: line))
    }

    /// `sentence KEY=value KEY="two words"`.
    static func text(of line: LogLine) -> String {
        var text = SafeText.of(line.sentence, limit: 8192)
        for (name, value) in line.fields {
            let safe = SafeText.of(value, limit: 8192)
            let isPlain = !safe.isEmpty && !safe.contains { $0 == " " || $0 == "\"" || $0 == "=" }
            text +=
                " \(name)="
                + (isPlain
                    ? safe
                    : "\"" + safe.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
                        + "\"")
        }
        return text
    }

    private func writeText(_ text: String) {
        let bytes = Array((text + "\n").utf8)
        var start = 0
        while start < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: start), bytes.count - start)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }  // nobody reads the log: there is nobody to tell
            start += count
        }
    }

    private func sendToJournal(_ line: LogLine) -> Bool {
        let entries = Self.entries(of: line, identifier: identifier)
        var bytes: [UInt8] = []
        var lengths: [Int] = []
        for entry in entries {
            bytes += entry.utf8
            lengths.append(entry.utf8.count)
        }
        // journald copies the bytes before the call returns.
        return unsafe bytes.withUnsafeMutableBytes { buffer in
            var vectors = unsafe [iovec]()
            var offset = 0
            for length in lengths {
                unsafe vectors.append(iovec(iov_base: buffer.baseAddress?.advanced(by: offset), iov_len: length))
                offset += length
            }
            let count = Int32(lengths.count)
            return unsafe sd_journal_sendv(&vectors, count) >= 0
        }
    }

    /// `NAME=value`, as journald takes them. Fields with a name that is none, or that belongs to journald, are left out.
    static func entries(of line: LogLine, identifier: String) -> [String] {
        var entries = [
            "MESSAGE=" + SafeText.of(line.sentence, limit: 8192), "PRIORITY=\(line.level.severity)",
            "SYSLOG_IDENTIFIER=" + identifier,
        ]
        for (name, value) in line.fields where isFieldName(name) {
            entries.append(name + "=" + SafeText.of(value, limit: 8192))
        }
        return entries
    }

    private static func isFieldName(_ name: String) -> Bool {
        guard let first = name.utf8.first, (0x41...0x5A).contains(first), name.utf8.count <= 64 else { return false }
        guard name != "MESSAGE", name != "PRIORITY", name != "SYSLOG_IDENTIFIER" else { return false }
        return name.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
    }
}
