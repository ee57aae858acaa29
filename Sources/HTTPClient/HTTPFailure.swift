/// Why a call got no reply. A reply of any status is not a failure here: whoever asked knows what it means.
package enum HTTPFailure: Error, Hashable, Sendable {
    /// There is nothing at the socket's path: the other side was never started, or it looks elsewhere.
    case noSocket
    /// The socket is there, but nobody listens: the other side ended without taking it along.
    case refused
    /// The socket may not be opened by this user.
    case notPermitted
    /// No reply, or no sign of life on a stream, in the time given.
    case timeout
    /// The caller wanted no more.
    case cancelled
    /// The other side went away in the middle of a reply, or ended a stream.
    case closed
    /// The reply is larger than the caller is willing to keep.
    case tooBig
    /// A stream was asked for and something else came.
    case rejected(HTTPReply)
    /// Anything else, in libcurl's words, as a clause without a full stop.
    case other(String)
}
