import CLinux
package import Files
import Glibc

/// One end of the line between daemon and decoder: whole messages with descriptors, in order (SOCK_SEQPACKET, unix(7)).
package struct DecoderChannel: ~Copyable, Sendable {
    private let socket: Descriptor

    package init(adopting socket: consuming Descriptor) { self.socket = socket }

    package var rawValue: Int32 { socket.rawValue }

    /// A connected pair: the daemon's end, and the one to hand to the decoder.
    package static func pair() throws(Errno) -> ChannelPair {
        var ends: [Int32] = [-1, -1]
        let failure = unsafe cl_seqpacket_pair(&ends)
        guard failure == 0 else { throw Errno(rawValue: failure) }
        return ChannelPair(
            ours: DecoderChannel(adopting: Descriptor(adopting: ends[0])), theirs: Descriptor(adopting: ends[1]))
    }

    /// - Parameter descriptors: stay the caller's; the other side gets duplicates.
    package borrowing func send(_ message: [UInt8], descriptors: [Int32] = []) throws(WireFault) {
        let failure = unsafe cl_send(socket.rawValue, message, message.count, descriptors, descriptors.count)
        switch failure {
        case 0: return
        case EPIPE, ECONNRESET, ENOTCONN: throw .closed
        default: throw .system(Errno(rawValue: failure).description)
        }
    }

    /// Waits for the next message.
    ///
    /// - Parameter expected: how many descriptors may come with it. With more, or with a message longer than
    ///   ``Wire/messageLimit``, it throws; what had come is closed.
    package borrowing func receive(upTo expected: Int) throws(WireFault) -> ReceivedMessage {
        var bytes = [UInt8](repeating: 0, count: Wire.messageLimit)
        var numbers = [Int32](repeating: -1, count: Int(CL_MAX_DESCRIPTORS))
        var count = 0
        var numberCount = 0
        let failure = unsafe cl_receive(socket.rawValue, &bytes, bytes.count, &count, &numbers, &numberCount)
        var first: Descriptor?
        var second: Descriptor?
        for (position, number) in numbers.prefix(numberCount).enumerated() {
            switch position {
            case 0 where expected > 0: first = Descriptor(adopting: number)
            case 1 where expected > 1: second = Descriptor(adopting: number)
            default: _ = close(number)  // nobody asked for it, and its owner has it still
            }
        }
        switch failure {
        case 0: break
        case EMSGSIZE: throw .oversize
        case ECONNRESET: throw .closed
        default: throw .system(Errno(rawValue: failure).description)
        }
        guard numberCount <= expected else { throw .descriptors }
        guard count > 0 else { throw .closed }
        return ReceivedMessage(bytes: Array(bytes.prefix(count)), first: first, second: second)
    }

    /// Whether something came, or the other side is gone, within `milliseconds`.
    package borrowing func waitReadable(milliseconds: Int32) throws(WireFault) -> Bool {
        let ready = cl_wait_readable(socket.rawValue, milliseconds)
        guard ready >= 0 else { throw .system(Errno(rawValue: -ready).description) }
        return ready == 1
    }
}

package struct ChannelPair: ~Copyable {
    package let ours: DecoderChannel
    package let theirs: Descriptor

    /// Closes the other end, once the decoder has it.
    package consuming func intoOurs() -> DecoderChannel { ours }
}

/// A message with the descriptors that came along; those that nobody takes close with it.
package struct ReceivedMessage: ~Copyable {
    package let bytes: [UInt8]
    private var first: Descriptor?
    private var second: Descriptor?

    init(bytes: [UInt8], first: consuming Descriptor?, second: consuming Descriptor?) {
        self.bytes = bytes
        self.first = first
        self.second = second
    }

    package mutating func takeFirst() -> Descriptor? { first.take() }
    package mutating func takeSecond() -> Descriptor? { second.take() }
}
