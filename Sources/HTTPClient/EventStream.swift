internal import CCurl
package import PhotoModel

/// A stream of server-sent events. The caller keeps the loop: it waits for events as long as it likes, does something
/// else (redraw, look at signals), and waits again.
///
/// Safe for the reason ``EasyHandle`` is; the easy handle leaves the multi handle before either is given back.
/// See libcurl-multi(3).
@safe package struct EventStream: ~Copyable {
    private let easy: EasyHandle
    private let multi: UnsafeMutableRawPointer
    private let receiver: Receiver
    private var parser = EventParser()
    private let patience: Duration
    private var lastSign = ContinuousClock.now
    private var isOver = false

    /// - Parameters:
    ///   - lastEventID: the stream is taken up after this event; nil starts with what happens from now on.
    ///   - patience: a stream without a byte for so long is dead. The server sends a heartbeat each 15 s, so the usual
    ///     value allows for two lost ones.
    package init(
        socket: Path, target: String, after lastEventID: String? = nil, patience: Duration = .seconds(45)
    ) throws(HTTPFailure) {
        var easy = try EasyHandle()
        // One wait takes in at most what libcurl reads before it returns; a peer that sends more is not ours.
        let receiver = Receiver(limit: 8 << 20) { false }
        var headers = ["Accept: text/event-stream"]
        if let lastEventID, lastEventID.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            headers.append("Last-Event-ID: " + lastEventID)
        }
        try easy.prepare(
            HTTPRequest(.get, target), socket: try checked(socket), headers: headers, deadline: nil,
            receiver: receiver)
        guard let multi = unsafe curl_multi_init() else { throw .other("libcurl could not be started") }
        unsafe self.multi = multi
        unsafe curl_multi_add_handle(multi, easy.curl)
        self.receiver = receiver
        self.easy = easy
        self.patience = patience
    }

    deinit {
        unsafe curl_multi_remove_handle(multi, easy.curl)
        unsafe curl_multi_cleanup(multi)
    }

    /// Returns as soon as something arrived, or after `timeout`, or earlier when a signal came in.
    ///
    /// - Throws: ``HTTPFailure``; ``HTTPFailure/closed`` when the server ended the stream,
    ///   ``HTTPFailure/timeout`` when it shows no sign of life.
    package mutating func next(within timeout: Duration) throws(HTTPFailure) -> [ServerEvent] {
        if isOver { throw .closed }
        if let events = try turn() { return events }
        unsafe curl_multi_poll(multi, nil, 0, Int32(clamping: Int(timeout / .milliseconds(1))), nil)
        if let events = try turn() { return events }
        if ContinuousClock.now - lastSign > patience { throw .timeout }
        return []
    }

    /// One round of transfer; nil when nothing arrived.
    private mutating func turn() throws(HTTPFailure) -> [ServerEvent]? {
        var running: Int32 = 0
        let code = unsafe curl_multi_perform(multi, &running)
        guard code == CURLM_OK else { throw .other("libcurl's multi interface failed with \(code.rawValue)") }
        var result = CURLE_OK
        isOver = unsafe curl_multi_is_done(multi, &result) == 1
        if isOver, let failure = easy.failure(result) { throw failure }
        guard easy.status == 200 else {  // no reply yet, or not the one asked for, which is then read to its end
            guard isOver else { return nil }
            throw .rejected(HTTPReply(status: easy.status, mediaType: easy.mediaType, body: receiver.drain()))
        }
        let bytes = receiver.drain()
        if !bytes.isEmpty { lastSign = .now }
        let events = try parser.feed(bytes)
        if isOver && events.isEmpty { throw .closed }
        return bytes.isEmpty ? nil : events
    }
}
