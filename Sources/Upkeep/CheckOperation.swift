import PhotoModel
import Store

/// Asks the state database about itself: structure, references, and the counts kept beside the rows. Changes nothing.
package struct CheckOperation: Sendable {
    private let rooms: UpkeepRooms

    package init(_ rooms: UpkeepRooms) { self.rooms = rooms }

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        // Begun anew after an interruption: the answer is of one moment.
        run.restart()
        run.setTotal(1)
        let faults: [StateFault]
        do throws(Problem) {
            faults = try rooms.store.stateFaults(isCancelled: { run.isEnding })
        } catch {
            try run.check()  // then that is why it failed
            throw .failed(error)
        }
        for fault in faults { run.find(Operation.Finding(fault.kind.rawValue, path: nil, fault.detail)) }
        run.advance(by: 1)
        if let id = try run.orEnd({ () throws(Problem) in try rooms.store.setting("library_id") }) {
            run.setResult("library_id", to: id)
        }
    }
}
