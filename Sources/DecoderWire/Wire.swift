/// The numbers both sides agree on. Daemon and decoder are built and installed together; a different version is refused.
package enum Wire {
    /// "PSD" and the version of the format.
    static let magic: UInt32 = 0x5053_4404
    /// Where the decoder finds its end of the channel.
    package static let channelNumber: Int32 = 3
    /// Bytes of the longest message. The most that an inspection can fill is about half of it.
    package static let messageLimit = 32 * 1024
    /// Characters of one text.
    package static let textLimit = 256
    /// Notes and times of one inspection.
    package static let listLimit = 8
    /// Pixels along one side, and the file size, that a reply may claim.
    package static let sideLimit = 1_000_000
    /// Bytes of a finished preview.
    package static let previewLimit = 64 << 20
}

/// Why a message was not understood.
package enum WireFault: Error, Hashable, Sendable, CustomStringConvertible {
    case foreign
    case short
    case trailingBytes
    case outOfRange(String)
    case oversize
    case descriptors
    case closed
    case system(String)

    package var description: String {
        switch self {
        case .foreign: "a message of another program or version"
        case .short: "a message that ends too early"
        case .trailingBytes: "a message with bytes left over"
        case .outOfRange(let name): "an impossible \(name)"
        case .oversize: "a message that is too long"
        case .descriptors: "a message with the wrong number of descriptors"
        case .closed: "the channel was closed"
        case .system(let error): error
        }
    }
}
