/// One server-sent event.
package struct ServerEvent: Hashable, Sendable {
    /// The last id sent so far, also when it came with an earlier event; empty when there was none.
    package var id: String
    /// `message` when the stream names none.
    package var name: String
    package var data: String

    package init(id: String, name: String, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }
}

/// Cuts a byte stream into events, as the HTML standard's section 9.2.6 says:
/// <https://html.spec.whatwg.org/multipage/server-sent-events.html>
///
/// Comments, which serve as heartbeats, and events without data come out as nothing.
package struct EventParser {
    /// Bytes of one line, or of one event's data, beyond which the stream is given up.
    package static let limit = 1 << 20

    private var line: [UInt8] = []
    private var endedWithCarriageReturn = false
    private var isFirstLine = true
    private var id = ""
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false

    package init() {}

    /// - Throws: ``HTTPFailure/tooBig`` for a line or event over ``limit``.
    package mutating func feed(_ bytes: [UInt8]) throws(HTTPFailure) -> [ServerEvent] {
        var events: [ServerEvent] = []
        for byte in bytes {
            defer { endedWithCarriageReturn = byte == 0x0D }
            if byte == 0x0A && endedWithCarriageReturn { continue }  // the second half of one line end
            guard byte == 0x0A || byte == 0x0D else {
                guard line.count < Self.limit else { throw .tooBig }
                line.append(byte)
                continue
            }
            if let event = takeLine() { events.append(event) }
            guard data.count <= Self.limit else { throw .tooBig }
        }
        return events
    }

    private mutating func takeLine() -> ServerEvent? {
        if isFirstLine && line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }  // a byte order mark
        isFirstLine = false
        defer { line.removeAll(keepingCapacity: true) }
        if line.isEmpty { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data":
            if hasData { data.append(0x0A) }
            data += value
            hasData = true
        case "event": name = String(decoding: value, as: UTF8.self)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        default: break  // a comment, `retry`, or a field of a later time
        }
        return nil
    }

    private mutating func dispatch() -> ServerEvent? {
        defer {
            name = ""
            data = []
            hasData = false
        }
        guard hasData else { return nil }
        return ServerEvent(
            id: id, name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self))
    }
}
