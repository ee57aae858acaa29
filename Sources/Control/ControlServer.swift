import ControlAPI
package import Files
import HTTP
package import PhotoModel
import Store

/// The control API on its Unix socket, from init to ``stop()``.
package final class ControlServer: Sendable {
    /// Where the socket comes from.
    package enum Place: ~Copyable, Sendable {
        /// Made here, and taken away at the end. `gid` nil leaves the process's group.
        case path(Path, mode: UInt32, gid: UInt32?)
        /// Listening already: systemd.socket(5).
        case handedOver(Descriptor)
    }

    private let server: HTTPServer
    private let hub: EventHub

    /// - Parameter dispatch: runs a closure on a thread that may wait, and not on one that imports fill. One that makes a
    ///   picture takes seconds, and may wait for others: it belongs on threads of its own.
    /// - Throws: `E_LOCKED` when somebody else listens there, `E_CONFIG` when the socket cannot be made.
    package init(
        at place: consuming Place, door: ControlDoor,
        dispatch: @escaping @Sendable (_ makesPicture: Bool, @escaping @Sendable () -> Void) -> Void
    ) throws(Problem) {
        hub = door.hub
        let (store, reasons) = (door.store, door.view.reasons)
        hub.lookUp(
            batch: { id in try? store.batch(id) },  // the event is not sent, and the next one says it too
            reasons: reasons)
        let desk = ControlDesk(door: door)
        server = try HTTPServer(
            listening: try Self.socket(at: place), tooBig: Self.tooBig,
            dispatch: { request, work in dispatch(desk.makesPicture(request), work) }, log: door.log,
            respond: { desk.respond(to: $0) })
    }

    /// Ends the event streams, lets answers under way go out for a moment, and takes the socket away. Waits.
    package func stop() {
        hub.end()
        server.stop()
    }

    private static func socket(at place: consuming Place) throws(Problem) -> ListeningSocket {
        switch consume place {
        case .path(let path, let mode, let gid): return try ListeningSocket(at: path, mode: mode, gid: gid)
        case .handedOver(let descriptor): return try ListeningSocket(handedOver: descriptor)
        }
    }

    static var tooBig: Reply {
        Problem(.tooBig, "The request's body has more than 1 MiB.", todo: "Send it in parts.").reply()
    }
}
