package import PhotoModel
package import Preview
package import Store
package import Workers

/// What every import works with.
package struct ImportRooms: Sendable {
    package var store: Store
    package var decoders: DecoderPool
    package var pool: BlockingPool
    package var inFlight: InFlight
    let gate = Gate<SHA256Digest>()
    /// By content identifier. Taken while ``gate`` is held, and never the other way round.
    let identities = Gate<String>()
    /// By the asset that is joined. Taken last.
    let joins = Gate<Asset.ID>()
    let space = SpaceLedger()
    let leftovers = Leftovers()
    let undecided = Undecided()
    package let previewsOwed: PreviewsOwed
    let turns = ShotTurns()
    package var event: @Sendable (SpoolEvent) -> Void
    package var log: Log
    package var now: @Sendable () -> Timestamp
    /// A new UUIDv7.
    package var newID: @Sendable () -> String
    package var isStopping: @Sendable () -> Bool

    package init(
        store: Store, decoders: DecoderPool, pool: BlockingPool, inFlight: InFlight,
        previewsOwed: PreviewsOwed = PreviewsOwed(), event: @escaping @Sendable (SpoolEvent) -> Void,
        log: @escaping Log,
        now: @escaping @Sendable () -> Timestamp, newID: @escaping @Sendable () -> String,
        isStopping: @escaping @Sendable () -> Bool
    ) {
        self.store = store
        self.decoders = decoders
        self.pool = pool
        self.inFlight = inFlight
        self.previewsOwed = previewsOwed
        self.event = event
        self.log = log
        self.now = now
        self.newID = newID
        self.isStopping = isStopping
    }
}
