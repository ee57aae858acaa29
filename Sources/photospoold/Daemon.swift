import Config
import Control
import Files
import Ingest
import PhotoModel
import Preview
import Service
import Store
import Synchronization
import Upkeep
import Watch
import Workers

/// The rooms, built, run, and stopped in reverse.
final class Daemon: Sendable {
    let source: ConfigurationSource
    let live: LiveSettings
    let isOnce: Bool
    let journal: Service.Journal
    let manager = ServiceManager()
    let store: Store
    let decoders: DecoderPool
    let memory: DecoderMemory
    let pictures: PictureDesk
    /// Requests that make pictures: they wait for each other, and nobody else for them.
    let picturePool: BlockingPool
    let inFlight: InFlight
    let outages: Outages
    let keeper: LibraryKeeper
    let room: ImportRoom
    let mirror: MirrorRoom
    let trash: Trash
    let upkeep: OperationDesk
    let dailyBackup: DailyBackup
    let previewsOwed: PreviewsOwed
    let previewKeeper: PreviewKeeper
    let watcher: Watcher
    let rates: Rates
    /// Imports, two lanes a worker: while one photo of it is with the decoder, another is copied, made durable, verified
    /// or committed, so that decoders do not wait for the disk.
    let importPool: BlockingPool
    /// Housekeeping and replies, so that imports that fill their pool hold nobody up.
    let servicePool: BlockingPool
    let startedAt = SystemClock.monotonic()
    let startTime = SystemClock.now()
    let phase: Phase
    let hub: EventHub
    let news: JobNews
    let openDrops = OpenDrops()
    /// One reload at a time, over its reading of files: SIGHUP and the API may both ask.
    let reloadTurn = Mutex<Void>(())
    let activation: SocketActivation?
    let crashes: Crashes
    /// Held for the life of the process.
    private let lock: InstanceLock

    /// Takes the lock, opens the state, and puts the rooms together. Nothing moves yet.
    init(
        settings: Settings, source: ConfigurationSource, isOnce: Bool, journal: Service.Journal,
        activation: SocketActivation?
    ) throws(Problem) {
        self.source = source
        self.isOnce = isOnce
        self.journal = journal
        self.activation = activation
        lock = try StateDirectory.take(source.stateDirectory)
        let live = LiveSettings(settings)
        let movieZone = MovieZone(live)
        let phase = Phase()
        let hub = EventHub()
        let log = journal.log
        let monotonic: @Sendable () -> Duration = { SystemClock.monotonic() }
        let rates = Rates(monotonic: monotonic)
        let store = try Store(directory: source.stateDirectory, log: log, now: SystemClock.now())
        let isPaused = try store.setting(SettingKeys.paused) == "1"
        let workers = settings.importing.workers > 0 ? settings.importing.workers : Machine.cores

        let crashes = Crashes(stateDirectory: source.stateDirectory)
        self.crashes = crashes
        self.live = live
        self.phase = phase
        self.hub = hub
        self.rates = rates
        self.store = store
        importPool = BlockingPool(named: "import", width: workers * 2)
        servicePool = BlockingPool(named: "service", width: 4)
        memory = DecoderMemory(
            budget: MachineMemory.budget(settings.importing), machine: ByteCount(MachineMemory.available))
        decoders = DecoderPool(
            program: Machine.decoderPath(), movies: Machine.decoderPath("photospool-decoder-av"), size: workers,
            deadline: settings.importing.deadline, memory: memory, localOffset: movieZone.offset(at:), log: log)
        inFlight = InFlight(monotonic: monotonic) { hub.publish(.progress($0)) }
        outages = Outages(isPaused: isPaused, monotonic: monotonic)
        keeper = LibraryKeeper(store: store, log: log, now: SystemClock.now)

        previewsOwed = PreviewsOwed()
        let wiring = Wiring()
        let keeper = keeper
        let mirror = MirrorRoom(
            store: store, library: { keeper.library }, settings: { live.current.library }, log: log,
            now: SystemClock.now, monotonic: monotonic, advanced: { wiring.sourcesMayGo(.of($0)) })
        self.mirror = mirror
        let news = JobNews(store: store, hub: hub, log: log)
        self.news = news
        watcher = Watcher(
            drops: settings.drops, ownFolder: source.stateDirectory,
            door: Self.door(
                store: store, wiring: wiring, news: news, live: live, state: source.stateDirectory, log: log),
            once: isOnce)
        let watcher = watcher
        room = ImportRoom(
            rooms: ImportRooms(
                store: store, decoders: decoders, pool: importPool, inFlight: inFlight, previewsOwed: previewsOwed,
                event: { hub.publish($0) }, log: log,
                now: SystemClock.now, newID: Machine.newID, isStopping: { phase.isStopping }),
            keeper: keeper, outages: outages, settings: { live.current },
            signals: ImportRoom.Signals(
                imported: {
                    rates.count(files: 1, bytes: $0)
                    mirror.wake()
                },
                sourceChanged: { path in
                    // With --once the watcher may have gone home; the file is found by the next run.
                    if phase.isWatcherDone { phase.leaveSomething() } else { watcher.recheck(path) }
                },
                isDrained: { phase.isWatcherDone }, endsWhenDrained: isOnce,
                hasCrashed: { crashes.areSuspected }, crashIsCounted: { crashes.areCounted(log: log) },
                silentDrops: { watcher.silentDrops },
                needsMirror: { !live.current.library.mirror.isEmpty }, finishMirror: { mirror.finish() }))
        wiring.connect(room)
        trash = Trash(store: store, log: log, now: SystemClock.now)
        upkeep = Upkeeping.desk(
            store: store, keeper: keeper, mirror: mirror, trash: trash, decoders: decoders, live: live, log: log)
        let outages = outages
        dailyBackup = DailyBackup(
            store: store, desk: upkeep, mayWork: { outages.mayWork }, log: log, startedAt: startTime)
        picturePool = BlockingPool(named: "picture", width: 4)
        pictures = PictureDesk(
            library: { keeper.library },
            decoders: DecoderPool(
                program: Machine.decoderPath(), movies: Machine.decoderPath("photospool-decoder-av"), size: 1,
                deadline: settings.importing.deadline, memory: memory, localOffset: movieZone.offset(at:), log: log),
            spec: { PreviewSpec(live.current.preview) },
            shelf: PictureShelf(
                at: source.stateDirectory / "pictures", limit: { live.current.preview.cacheSize }, log: log), log: log)
        let (decoders, room) = (decoders, room)
        previewKeeper = PreviewKeeper(
            store: store, desk: upkeep, owed: previewsOwed,
            decoderVersion: { decoders.probe() ? decoders.decoderVersion : nil }, mayWork: { outages.mayWork },
            hasRoom: { keeper.library?.hasRoomForPreviews ?? false },
            retried: { jobs in
                news.tell(jobs)
                room.wake()
            }, log: log, startedAt: startTime)
    }

    /// What the watcher sees of the store.
    private static func door(
        store: Store, wiring: Wiring, news: JobNews, live: LiveSettings, state: Path, log: @escaping Log
    ) -> Watcher.Door {
        Watcher.Door(
            areKnown: { (drop, filesystem, files) throws(Problem) in
                try store.areKnown(drop: drop, filesystem: filesystem, files)
            },
            enqueue: { (groups) throws(Problem) in
                let ids = try store.enqueue(groups, isManual: false, batch: nil, at: SystemClock.now())
                if !ids.isEmpty { wiring.wake() }
                news.tell(ids)
            },
            knowsPath: { (drop, filesystem, path) throws(Problem) in
                try store.knowsPath(drop: drop, filesystem: filesystem, path: path)
            },
            knowsShot: { (drop, filesystem, folder, stem) throws(Problem) in
                try store.knowsShot(drop: drop, filesystem: filesystem, folder: folder, stem: stem)
            },
            objection: { name in
                // This drop and the library alone: another one may lie on a share that does not answer.
                var settings = live.current
                settings.drops.removeAll { $0.name != name }
                return OverlapCheck.problems(settings: settings, stateDirectory: state).first { $0.code == .overlap }
            },
            log: log,
            changed: {})
    }
}

extension Watcher {
    /// The names of the drop folders that do not answer.
    var silentDrops: Set<String> { Set(health.filter(\.isSilent).map(\.name)) }
}

/// Lets watcher and mirror wake an import room that is built after them.
final class Wiring: Sendable {
    private let room = Mutex<ImportRoom?>(nil)
    func connect(_ room: ImportRoom) { self.room.withLock { $0 = room } }
    func wake() { room.withLock { $0 }?.wake() }
    func sourcesMayGo(_ news: MirrorNews) { room.withLock { $0 }?.sourcesMayGo(news) }
}

/// How far the daemon's life has come.
final class Phase: Sendable {
    private let starting = Atomic<Bool>(true)
    private let stopping = Atomic<Bool>(false)
    private let watcherDone = Atomic<Bool>(false)
    private let left = Atomic<Bool>(false)

    var isStarting: Bool { starting.load(ordering: .acquiring) }
    var isStopping: Bool { stopping.load(ordering: .acquiring) }
    var isWatcherDone: Bool { watcherDone.load(ordering: .acquiring) }
    func started() { starting.store(false, ordering: .releasing) }
    func stop() { stopping.store(true, ordering: .releasing) }
    /// Whether something has to wait for the next run.
    var hasLeftSomething: Bool { left.load(ordering: .acquiring) }
    func leaveSomething() { left.store(true, ordering: .releasing) }
    func watcherEnded() { watcherDone.store(true, ordering: .releasing) }
}

/// Names of settings that the state remembers.
enum SettingKeys {
    static let paused = "paused"
}
