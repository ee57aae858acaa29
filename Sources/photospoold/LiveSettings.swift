import Config
import PhotoModel
import Synchronization

/// The configuration in force; a reload exchanges it whole.
final class LiveSettings: Sendable {
    private let settings: Mutex<Settings>

    init(_ settings: Settings) { self.settings = Mutex(settings) }

    var current: Settings { settings.withLock { $0 } }

    func replace(_ new: Settings) { settings.withLock { $0 = new } }

    /// What `old` and `new` differ in that takes a restart to change.
    static func needsRestart(from old: Settings, to new: Settings) -> [String] {
        var keys: [String] = []
        if old.library.path != new.library.path { keys.append("library.path") }
        if old.control != new.control { keys.append("control") }
        if old.importing.workers != new.importing.workers { keys.append("import.workers") }
        if old.importing.deadline != new.importing.deadline { keys.append("import.deadline") }
        return keys
    }

    /// The tables that a reload changed.
    static func changes(from old: Settings, to new: Settings) -> [String] {
        var tables: [String] = []
        if old.library != new.library { tables.append("library") }
        if old.drops != new.drops { tables.append("drop") }
        if old.importing != new.importing { tables.append("import") }
        if old.preview != new.preview { tables.append("preview") }
        if old.logLevel != new.logLevel { tables.append("log") }
        return tables
    }
}
