import DecoderWire
import Files
import Glibc
import PhotoModel

extension DecoderPool {
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

    /// Sends one request and waits for its answer. Whatever is not `.reply` has ended the decoder.
    func exchange(
        _ decoder: DecoderProcess, _ request: DecoderRequest, descriptors: [Int32], until end: Duration,
        isCancelled: () -> Bool
    ) -> Outcome {
        do throws(WireFault) {
            try decoder.channel.send(request.encoded(), descriptors: descriptors)
            let reply = try receive(decoder, until: end, isCancelled: isCancelled)
            switch reply {
            case .message(let reply):
                guard reply.id == request.id else { return ended(decoder, .nonsense("an answer to another question")) }
                return .reply(reply.content)
            case .timedOut: return ended(decoder, decoder.isStopped ? .wasStopped : .timedOut)
            case .cancelled: return ended(decoder, .cancelled)
            }
        } catch .closed {
            return .died(decoder.reap())
        } catch {
            return ended(decoder, .nonsense(error.description))
        }
    }

    private func ended(_ decoder: DecoderProcess, _ outcome: Outcome) -> Outcome {
        decoder.reap()
        return outcome
    }

    enum Reception {
        case message(DecoderReply)
        case timedOut
        case cancelled
    }

    /// Waits in slices, so that a cancelled import gives its decoder up within a tenth of a second.
    func receive(
        _ decoder: DecoderProcess, until end: Duration, isCancelled: () -> Bool
    ) throws(WireFault) -> Reception {
        while true {
            if isCancelled() || isStopped { return .cancelled }
            let left = end - SystemClock.monotonic()
            if left <= .zero { return .timedOut }
            let slice = Int32(min(left.milliseconds + 1, 100))
            if try decoder.channel.waitReadable(milliseconds: slice) {
                let message = try decoder.channel.receive(upTo: 0)
                return .message(try DecoderReply(decoding: message.bytes))
            }
        }
    }
}

extension Duration {
    var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
