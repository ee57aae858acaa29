internal import CCurl
internal import Glibc
internal import PhotoModel

/// Owns one libcurl easy handle, and with it the connection that libcurl keeps open between two transfers.
///
/// Safe because the handle never leaves this file's module, and what libcurl keeps pointers to (the header list and the
/// receiver) is owned here and replaced only while no transfer runs. See libcurl-easy(3).
@safe struct EasyHandle: ~Copyable {
    let curl: UnsafeMutableRawPointer
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var receiver: Receiver?

    init() throws(HTTPFailure) {
        guard let curl = unsafe curl_easy_init() else { throw .other("libcurl could not be started") }
        unsafe self.curl = curl
        unsafe headers = nil
        receiver = nil
    }

    deinit {
        unsafe curl_easy_cleanup(curl)  // before the list: libcurl may look at it until here
        unsafe curl_slist_free_all(headers)
    }

    /// Makes the handle ready for `request`; what comes back goes to `receiver`.
    mutating func prepare(
        _ request: HTTPRequest, socket: Path, headers lines: [String], deadline: Duration?, receiver: Receiver
    ) throws(HTTPFailure) {
        unsafe curl_easy_reset(curl)
        try setHeaders(lines + ["Expect:"])  // a body goes out at once, not after a 100 Continue
        self.receiver = receiver
        try unsafe check(socket.withCString { unsafe curl_set_text(curl, CURLOPT_UNIX_SOCKET_PATH, $0) })
        // The name is what the server checks `Host` against; nothing looks it up.
        try set(CURLOPT_URL, "http://localhost" + request.target)
        try set(CURLOPT_PROXY, "")  // whatever the environment says: a socket on this machine needs none
        try set(CURLOPT_PROTOCOLS_STR, "http")
        try set(CURLOPT_USERAGENT, "photospool")
        try set(CURLOPT_NOSIGNAL, 1)
        try set(CURLOPT_CONNECTTIMEOUT_MS, 5000)
        if let deadline { try set(CURLOPT_TIMEOUT_MS, max(1, Int(deadline / .milliseconds(1)))) }
        if let body = request.body {
            try unsafe check(
                body.withUnsafeBytes { unsafe curl_set_body(curl, $0.baseAddress, curl_off_t($0.count)) })
        } else if request.method == .post {
            try unsafe check(curl_set_body(curl, "", 0))
        }
        if request.method != .get { try set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        let context = unsafe Unmanaged.passUnretained(receiver).toOpaque()
        try unsafe check(
            curl_set_writer(
                curl,
                { bytes, size, count, context in
                    guard let context = unsafe context, let bytes = unsafe bytes else { return 0 }
                    let receiver = unsafe Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue()
                    let chunk = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
                    return unsafe receiver.take(chunk) ? size * count : 0  // another number ends the transfer
                }, context))
        try unsafe check(
            curl_set_progress(
                curl,
                { context, _, _, _, _ in
                    guard let context = unsafe context else { return 1 }
                    return unsafe Unmanaged<Receiver>.fromOpaque(context).takeUnretainedValue().isCancelled() ? 1 : 0
                }, context))
    }

    /// Runs the prepared transfer to its end. Blocks.
    func perform() -> HTTPFailure? { unsafe failure(curl_easy_perform(curl)) }

    var status: Int {
        var status = 0
        unsafe curl_get_long(curl, CURLINFO_RESPONSE_CODE, &status)
        return status
    }

    var mediaType: String {
        var text: UnsafePointer<CChar>?
        unsafe curl_get_text(curl, CURLINFO_CONTENT_TYPE, &text)
        guard let text = unsafe text else { return "" }
        let whole = unsafe String(cString: text)
        return String(whole.prefix { $0 != ";" && $0 != " " }).lowercased()
    }

    /// See curl_easy_nextheader(3). Of two of a name the last counts.
    var ownHeaders: [String: String] {
        var found: [String: String] = [:]
        var header: UnsafeMutablePointer<curl_header>?
        while let next = unsafe curl_easy_nextheader(curl, UInt32(CURLH_HEADER), -1, header) {
            let name = unsafe String(cString: next.pointee.name).lowercased()
            if name.hasPrefix("photospool-") { found[name] = unsafe String(cString: next.pointee.value) }
            unsafe header = next
        }
        return found
    }

    /// What a transfer that ended with `code` means; nil when it went well.
    func failure(_ code: CURLcode) -> HTTPFailure? {
        switch code {
        case CURLE_OK: return nil
        case CURLE_OPERATION_TIMEDOUT: return .timeout
        case CURLE_ABORTED_BY_CALLBACK: return .cancelled
        case CURLE_WRITE_ERROR: return .tooBig
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR: return .closed
        case CURLE_COULDNT_CONNECT:
            var number = 0
            unsafe curl_get_long(curl, CURLINFO_OS_ERRNO, &number)
            switch Int32(truncatingIfNeeded: number) {
            case ENOENT, ENOTDIR: return .noSocket
            case ECONNREFUSED: return .refused
            case EACCES, EPERM: return .notPermitted
            default: return .other(Self.words(for: code))
            }
        default: return .other(Self.words(for: code))
        }
    }

    private static func words(for code: CURLcode) -> String {
        unsafe curl_easy_strerror(code).map { unsafe String(cString: $0) } ?? "libcurl error \(code.rawValue)"
    }

    private mutating func setHeaders(_ lines: [String]) throws(HTTPFailure) {
        unsafe curl_slist_free_all(headers)
        unsafe headers = nil
        for line in lines {
            guard let longer = unsafe curl_slist_append(headers, line) else { throw .other("out of memory") }
            unsafe headers = longer
        }
        try unsafe check(curl_set_headers(curl, headers))
    }

    private func set(_ option: CURLoption, _ text: String) throws(HTTPFailure) {
        try unsafe check(curl_set_text(curl, option, text))
    }

    private func set(_ option: CURLoption, _ number: Int) throws(HTTPFailure) {
        try unsafe check(curl_set_long(curl, option, number))
    }

    private func check(_ code: CURLcode) throws(HTTPFailure) {
        guard code == CURLE_OK else { throw .other(Self.words(for: code)) }
    }
}

/// Where libcurl's callbacks put what arrives. Used by one thread only, the one that runs the transfer.
final class Receiver {
    private(set) var bytes: [UInt8] = []
    private let limit: Int
    let isCancelled: () -> Bool

    init(limit: Int, isCancelled: @escaping () -> Bool) {
        self.limit = limit
        self.isCancelled = isCancelled
    }

    /// - Returns: false when there is no room for it.
    func take(_ chunk: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count + chunk.count <= limit else { return false }
        unsafe bytes.append(contentsOf: chunk)
        return true
    }

    /// Everything since the last call.
    func drain() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }
}
