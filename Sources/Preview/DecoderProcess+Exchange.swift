import DecoderWire
import Files
import Glibc
import PhotoModel

extension DecoderProcess {
    /// How one request to one decoder went.
    enum Outcome {
        case reply(DecoderReply.Content)
        case died(Ending)
        /// It answered what no honest decoder does; it has been ended.
        case nonsense(String)
        case timedOut
        /// The time is over, and it stands still because somebody stopped it.
        case wasStopped
        case cancelled
    }

    /// Sends one request and waits for its answer. Whatever is not `.reply` has ended it.
    func exchange(
        _ request: DecoderRequest, descriptors: [Int32], until end: Duration,
        isCancelled: () -> Bool
    ) -> Outcome {
        do throws(WireFault) {
            try channel.send(request.encoded(), descriptors: descriptors)
            let reply = try receive(until: end, isCancelled: isCancelled)
            switch reply {
            case .message(let reply):
                guard reply.id == request.id else { return ended(.nonsense("an answer to another question")) }
                return .reply(reply.content)
            case .timedOut: return ended(isStopped ? .wasStopped : .timedOut)
            case .cancelled: return ended(.cancelled)
            }
        } catch .closed {
            return .died(reap())
        } catch {
            return ended(.nonsense(error.description))
        }
    }

    private func ended(_ outcome: Outcome) -> Outcome {
        reap()
        return outcome
    }

    enum Reception {
        case message(DecoderReply)
        case timedOut
        case cancelled
    }

    /// Waits in slices, so that a cancelled import gives its decoder up within a tenth of a second.
    func receive(
        until end: Duration, isCancelled: () -> Bool
    ) throws(WireFault) -> Reception {
        while true {
            if isCancelled() { return .cancelled }
            let left = end - SystemClock.monotonic()
            if left <= .zero { return .timedOut }
            let slice = Int32(min(left.milliseconds + 1, 100))
            if try channel.waitReadable(milliseconds: slice) {
                let message = try channel.receive(upTo: 0)
                return .message(try DecoderReply(decoding: message.bytes))
            }
        }
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
