internal import Config
internal import ControlAPI
internal import Files
internal import Glibc
internal import HTTPClient
internal import PhotoModel

/// What there is to be checked: found out once, before the checks.
struct Installed {
    let files: ConfigurationPlace
    /// Nil when the configuration is faulty, or may not be read.
    let settings: Settings?
    let faults: [ConfigurationFault]
    /// Places of the configuration that do not answer: whoever touches them waits, perhaps for ever.
    let silent: [Path]
    let stateDirectory: Path
    let socket: Path
    /// What the service says of itself, or why it does not.
    let status: Result<StatusBody, Failure>
    /// The unit that starts this installation; nil when there is none, or it is about another one.
    let unit: UnitText?
    /// Whether a unit is installed at all.
    let hasUnit: Bool
    /// What systemd knows of it beyond the file: `ActiveState`, `NeedDaemonReload`. Empty where it cannot be asked.
    let unitFacts: [String: String]
    let user: ServiceUser
    /// The service's process, when it is known.
    let process: Int32?
    /// Whether a process holds the state directory; nil when that may not be asked.
    let isStateHeld: Bool?
    /// photospoold and the decoders, where they lie.
    let programs: [String: Path]
    let isRoot = geteuid() == 0

    /// - Throws: only for words of the command line that mean nothing.
    init(_ invocation: Invocation) throws(Failure) {
        let option = invocation.options["config"]?.last.map(Command.absolute)
        let files = ConfigurationPlace(option: option)
        self.files = files
        do throws(ConfigurationFaults) {
            settings = try ConfigurationFile.load(
                main: files.main, mustExist: true, dropIns: files.dropIns, defaults: files.defaults)
            faults = []
        } catch {
            settings = nil
            faults = error.faults
        }

        let places = settings.map { settings in
            [settings.library.path] + settings.drops.flatMap { [$0.path, $0.moveTo] }.filter { !$0.isEmpty }
        }
        silent = (places ?? []).filter(Place.isSilent)

        let text = Systemd.unit()
        hasUnit = text != nil
        let isSystems = files.main == Locations.system.configuration
        let isOurs = text.map { $0.argument("config").map { Path($0) == files.main } ?? isSystems } ?? false
        let unit = isOurs ? text : nil
        let unitFacts = isOurs ? Systemd.facts() : [:]
        stateDirectory =
            invocation.options["state-dir"]?.last.map(Command.absolute) ?? unit?.argument("state-dir").map { Path($0) }
            ?? files.stateDirectory

        let named = invocation.options["socket"] != nil || environment("PHOTOSPOOL_SOCKET") != nil
        socket =
            named || settings == nil
            ? Daemon.socket(option: invocation.options["socket"]?.last) : settings?.control.socket ?? Path("")
        status = Self.status(at: socket)

        let (isHeld, holder) = Place.isSilent(stateDirectory) ? (nil, nil) : Self.holder(of: stateDirectory)
        isStateHeld = isHeld
        process = unitFacts["MainPID"].flatMap { Int32($0) }.flatMap { $0 > 0 ? $0 : nil } ?? holder
        let answers =
            switch status {
            case .success: true
            case .failure(let failure): failure.status == .notPermitted
            }
        user = Self.user(
            process: process, socket: answers ? socket : nil, unit: unit, isSystems: isSystems)
        programs = Self.programs(unit)
        self.unit = unit
        self.unitFacts = unitFacts
    }

    var isRunning: Bool { if case .success = status { true } else { false } }

    private static func status(at socket: Path) -> Result<StatusBody, Failure> {
        do throws(Failure) {
            var daemon = try Daemon(socket: socket)
            return .success(try daemon.get(StatusBody.self, "/v1/status", deadline: Tool.limit))
        } catch {
            return .failure(error)
        }
    }

    /// Who holds the lock in the state directory, if he is a process of this machine.
    static func holder(of stateDirectory: Path) -> (isHeld: Bool?, process: Int32?) {
        do throws(Errno) {
            let (isHeld, holder) = try InstanceLock.isHeld(Path("lock"), in: try Folder(opening: stateDirectory))
            return (isHeld, isHeld ? holder.flatMap { $0.host == hostName() ? $0.process : nil } : nil)
        } catch .noEntry {
            return (false, nil)
        } catch {
            return (nil, nil)
        }
    }

    // MARK: The user

    private static func user(process: Int32?, socket: Path?, unit: UnitText?, isSystems: Bool) -> ServiceUser {
        if let process, let text = smallFile("/proc/\(process)/status"), let user = ServiceUser(processStatus: text) {
            return user
        }
        // Made by the service, or given to its user by systemd.
        var found = stat()
        if let socket, unsafe socket.withCString({ unsafe stat($0, &found) }) == 0 {
            return ServiceUser(uid: found.st_uid)
        }
        if let name = unit?.value("User") {
            guard let uid = Accounts.userID(named: name) else { return ServiceUser(missing: name) }
            let more = (unit?.words("SupplementaryGroups") ?? []) + (unit?.words("Group") ?? [])
            return ServiceUser(uid: uid, more: more.compactMap { Accounts.groupID(named: $0) })
        }
        if isSystems, let uid = Accounts.userID(named: "photospool") { return ServiceUser(uid: uid) }
        return ServiceUser(uid: geteuid())
    }

    // MARK: The programs

    static func programs(_ unit: UnitText?) -> [String: Path] {
        var own = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &own, own.count)
        let here = count > 0 ? Path(bytes: own.prefix(count).map { UInt8(bitPattern: $0) }).parent : Path("/usr/bin")
        var programs: [String: Path] = [:]
        let daemon = [unit?.program, here / "photospoold"].compactMap { $0 }.first(where: isProgram)
        programs["photospoold"] = daemon ?? Tool.find("photospoold")
        // As the service looks for it: beside itself, else where `make install` puts it.
        let home = programs["photospoold"]?.parent ?? here
        for name in ["photospool-decoder", "photospool-decoder-av"] {
            programs[name] = [home / name, home.parent / "libexec/photospool" / name].first(where: isProgram)
        }
        return programs
    }

    private static func isProgram(_ path: Path) -> Bool { unsafe path.withCString { unsafe access($0, X_OK) } == 0 }
}
