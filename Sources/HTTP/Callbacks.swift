import CMicrohttpd
import Files
import Glibc
import PhotoModel

/// What libmicrohttpd calls, always on its one thread, which nothing here keeps waiting.
func callbacks(for core: Core) -> shim_server {
    unsafe shim_server(
        context: Unmanaged.passUnretained(core).toOpaque(),
        handle: { context, handle, target, method, _, upload, uploadSize, slot in
            guard let context = unsafe context, let handle = unsafe handle, let uploadSize = unsafe uploadSize,
                let slot = unsafe slot
            else { return .NO }
            let core = unsafe Unmanaged<Core>.fromOpaque(context).takeUnretainedValue()
            guard let held = unsafe slot.pointee else {
                guard let exchange = unsafe begin(core, handle, method: method, target: target) else { return .NO }
                // Taken back by `completed`, which libmicrohttpd calls for every request whose slot is filled.
                unsafe slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
                core.began(exchange)
                return unsafe refuseEarly(exchange, core, handle)
            }
            let exchange = unsafe Unmanaged<Exchange>.fromOpaque(held).takeUnretainedValue()
            if unsafe uploadSize.pointee > 0 {
                let part = unsafe UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
                let goesOn = unsafe take(part, exchange, core.limits)
                unsafe uploadSize.pointee = 0
                return goesOn ? .YES : .NO
            }
            if exchange.received > core.limits.body { return unsafe send(core.tooBig, exchange, core, handle) }
            switch core.proceed(exchange) {
            case .wait: return .YES
            case .close: return .NO
            case .send(let reply): return unsafe send(reply, exchange, core, handle)
            }
        },
        completed: { context, _, slot, _ in
            guard let context = unsafe context, let slot = unsafe slot, let held = unsafe slot.pointee else { return }
            unsafe slot.pointee = nil
            let core = unsafe Unmanaged<Core>.fromOpaque(context).takeUnretainedValue()
            core.finished(unsafe Unmanaged<Exchange>.fromOpaque(held).takeRetainedValue())
        },
        connection: { context, handle, slot, event in
            guard let context = unsafe context, let handle = unsafe handle, let slot = unsafe slot else { return }
            let core = unsafe Unmanaged<Core>.fromOpaque(context).takeUnretainedValue()
            if event == .CONNECTION_NOTIFY_STARTED {
                let socket = unsafe shim_socket(handle)
                let connection = unsafe Connection(handle: handle, socket: socket, peer: core.peer(socket))
                unsafe slot.pointee = Unmanaged.passRetained(connection).toOpaque()
                core.opened(connection)
            } else if let held = unsafe slot.pointee {
                unsafe slot.pointee = nil
                core.closed(unsafe Unmanaged<Connection>.fromOpaque(held).takeRetainedValue())
            }
        },
        log: { context, line in
            guard let context = unsafe context, let line = unsafe line else { return }
            let core = unsafe Unmanaged<Core>.fromOpaque(context).takeUnretainedValue()
            // A peer that goes away is news to the library, not to anybody else.
            let text = SafeText.of(trimmed(unsafe String(cString: line)[...]))
            core.log(LogLine(.debug, "The control socket's library says something.", [("TEXT", text)]))
        },
        connections: UInt32(core.limits.connections), idle_seconds: UInt32(max(1, core.limits.idle.components.seconds)),
        connection_memory: core.limits.headers)
}

private func begin(
    _ core: Core, _ handle: OpaquePointer, method: UnsafePointer<CChar>?, target: UnsafePointer<CChar>?
) -> Exchange? {
    guard let held = unsafe shim_socket_context(handle), let method = unsafe method, let target = unsafe target else {
        return nil
    }
    let connection = unsafe Unmanaged<Connection>.fromOpaque(held).takeUnretainedValue()
    var headers: [String: String] = [:]
    for (name, value) in unsafe values(of: .HEADER_KIND, handle) {
        let name = name.lowercased()
        // Repeated list headers mean the same as one with commas: RFC 9110, section 5.3.
        headers[name] = headers[name].map { $0 + ", " + value } ?? value
    }
    var query: [(key: String, value: String)]? = []
    for (key, value) in unsafe values(of: .GET_ARGUMENT_KIND, handle) {
        guard let key = percentDecoded(key.utf8), let value = percentDecoded(value.utf8) else {
            query = nil
            break
        }
        query?.append((key, value))
    }
    let request = unsafe Request(
        method: String(cString: method), target: String(cString: target), query: query, headers: headers,
        peer: connection.peer)
    return Exchange(connection: connection, request: request)
}

private func values(of kind: MHD_ValueKind, _ handle: OpaquePointer) -> [(String, String)] {
    var found: [(String, String)] = []
    unsafe withUnsafeMutablePointer(to: &found) { place in
        // Copied while it is called: the bytes belong to the connection.
        _ = unsafe MHD_get_connection_values(
            handle, kind,
            { place, _, key, value in
                guard let place = unsafe place, let key = unsafe key else { return .NO }
                let text = unsafe value.map { unsafe String(cString: $0) } ?? ""
                unsafe place.assumingMemoryBound(to: [(String, String)].self).pointee
                    .append((String(cString: key), text))
                return .YES
            }, place)
    }
    return found
}

/// Says no before the body is sent, where its announced length is out of all proportion.
private func refuseEarly(_ exchange: Exchange, _ core: Core, _ handle: OpaquePointer) -> MHD_Result {
    guard let length = exchange.request.header("content-length").flatMap({ Int64($0) }),
        length > Int64(core.limits.refusedBody)
    else { return .YES }
    return unsafe send(core.tooBig, exchange, core, handle)
}

/// - Returns: false when the connection is to be closed: there is no end to the body.
private func take(_ part: UnsafeRawBufferPointer, _ exchange: Exchange, _ limits: HTTPServer.Limits) -> Bool {
    exchange.received += part.count
    if exchange.received > limits.body {
        exchange.request.body = []
    } else {
        unsafe exchange.request.body.append(contentsOf: part)
    }
    return exchange.received <= limits.refusedBody
}

private func send(_ reply: Reply, _ exchange: Exchange, _ core: Core, _ handle: OpaquePointer) -> MHD_Result {
    guard let response = unsafe response(with: reply.body, exchange, core) else { return .NO }
    defer { unsafe MHD_destroy_response(response) }  // queueing holds its own reference
    for (name, value) in reply.headers {
        // Refused when it could break out of its line; a reply without its header would say something else.
        guard unsafe MHD_add_response_header(response, name, value) == .YES else { return .NO }
    }
    return unsafe MHD_queue_response(handle, UInt32(reply.status), response)
}

private func response(with body: Reply.Body, _ exchange: Exchange, _ core: Core) -> OpaquePointer? {
    switch body {
    case .bytes(let bytes):
        var bytes = bytes
        return unsafe bytes.withUnsafeMutableBytes { buffer in
            unsafe MHD_create_response_from_buffer(buffer.count, buffer.baseAddress, .RESPMEM_MUST_COPY)
        }
    case .file(let file, let offset, let length):
        if length == 0 { return unsafe MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT) }
        let number: Int32
        do throws(Errno) {
            number = try file.descriptor.duplicate().release()
        } catch {
            core.log(LogLine(.warning, "A file could not be sent.", [("ERRNO", error.name)]))
            return nil  // too many open files: closing this connection is all that is left to say
        }
        let response = unsafe MHD_create_response_from_fd_at_offset64(UInt64(length), number, UInt64(offset))
        if unsafe response == nil { _ = close(number) }
        return unsafe response
    case .stream(let stream) where exchange.request.method == "HEAD":
        // libmicrohttpd 0.9.75 ends a chunked answer to HEAD with a last chunk, which the client takes for the start of
        // the next answer; so such a stream ends before it begins.
        stream.detach()
        return unsafe MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
    case .stream(let stream):
        let response = unsafe MHD_create_response_from_callback(
            shim_size_unknown, 16 << 10,
            { context, _, buffer, room in
                guard let context = unsafe context, let buffer = unsafe buffer else { return shim_end_with_error }
                let stream = unsafe Unmanaged<ByteStream>.fromOpaque(context).takeUnretainedValue()
                return unsafe stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: room))
            }, Unmanaged.passRetained(stream).toOpaque(),
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<ByteStream>.fromOpaque(context).release()
            })
        if unsafe response == nil {
            unsafe Unmanaged.passUnretained(stream).release()
        } else {
            core.serve(stream, in: exchange)
        }
        return unsafe response
    }
}
