internal import CSystemd
package import Files
internal import Glibc
internal import Synchronization

/// The sockets that the service manager opened for us, by the name its unit gives them (`FileDescriptorName=`).
package final class SocketActivation: Sendable {
    private let waiting: Mutex<[String: [Int32]]>

    /// Takes all of them. Clears the variables that announce them, so that no child believes they are its own: hence to
    /// be made once, and early, while there is one thread. See sd_listen_fds(3).
    package init() throws(Errno) {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count >= 0 else { throw Errno(rawValue: -count) }
        var sockets: [String: [Int32]] = [:]
        for position in 0..<Int(count) {
            let name = unsafe names?[position].map { unsafe String(cString: $0) } ?? ""
            // They come one after the other from 3 on, already closed on exec.
            sockets[name, default: []].append(SD_LISTEN_FDS_START + Int32(position))
            unsafe free(names?[position])
        }
        unsafe free(names)
        waiting = Mutex(sockets)
    }

    deinit {
        waiting.withLock { sockets in
            for number in sockets.values.joined() { _ = close(number) }  // nobody asked for them
        }
    }

    /// The next socket of that name, listening; nil when there is none left.
    package func take(named name: String) -> Descriptor? {
        let number = waiting.withLock { sockets -> Int32? in
            guard let first = sockets[name]?.first else { return nil }
            sockets[name]?.removeFirst()
            return first
        }
        return number.map { Descriptor(adopting: $0) }
    }
}
