internal import PhotoModel

/// Where something was set: for faults that only show once all files are read.
struct Origin: Sendable {
    var file: Path
    var place: Place
}

/// Takes the files one after the other, later ones over earlier ones, and gathers every fault on the way.
struct SettingsReader {
    /// A drop folder as far as the files have described it.
    struct Draft {
        var folder: DropFolder
        /// By key; `""` is where the table starts.
        var origins: [String: Origin]
    }

    var settings: Settings
    var drafts: [Draft] = []
    /// By full key: `import.verify`.
    var origins: [String: Origin] = [:]
    var faults: [ConfigurationFault] = []
    private let groups: GroupNames
    private var file = Path(bytes: [])

    init(defaults: Settings, groups: GroupNames) {
        settings = defaults
        self.groups = groups
    }

    mutating func read(_ members: [TOMLMember], from file: Path) {
        self.file = file
        for member in members {
            switch member.key {
            case "library": readTable(member, Schema.library(groups), \.library)
            case "import": readTable(member, Schema.importing, \.importing)
            case "preview": readTable(member, Schema.preview, \.preview)
            case "control": readTable(member, Schema.control(groups), \.control)
            case "log": readTable(member, Schema.log, \.self)
            case "web": readTable(member, Schema.web, \.self)
            case "drop": readDrops(member)
            default: unknownTopLevel(member)
            }
        }
    }

    mutating func fault(_ key: String, _ sentence: String, hint: String? = nil, at origin: Origin?) {
        faults.append(
            ConfigurationFault(
                file: origin?.file ?? file, line: origin?.place.line, column: origin?.place.column, key: key,
                sentence: sentence, hint: hint))
    }

    private mutating func readTable<Target>(
        _ member: TOMLMember, _ keys: [SettingKey<Target>], _ target: WritableKeyPath<Settings, Target>
    ) {
        guard case .table(let members) = member.value.content else {
            let misfit = member.value.isNot("a table")
            let place = if case .array = member.value.content { member.place } else { member.value.place }
            return fault(
                member.key, misfit.sentence, hint: "write [\(member.key)]", at: Origin(file: file, place: place))
        }
        var table = settings[keyPath: target]
        for (key, origin) in take(members, keys, into: &table, table: member.key) {
            origins[member.key + "." + key] = origin
        }
        settings[keyPath: target] = table
    }

    /// Returns where the keys that were taken stand.
    private mutating func take<Target>(
        _ members: [TOMLMember], _ keys: [SettingKey<Target>], into target: inout Target, table: String
    ) -> [String: Origin] {
        var taken: [String: Origin] = [:]
        for member in members {
            guard let key = keys.first(where: { $0.name == member.key }) else {
                unknownKey(member, table: table, known: keys.map(\.name))
                continue
            }
            do throws(Misfit) {
                try key.take(member.value, &target)
                taken[key.name] = Origin(file: file, place: member.value.place)
            } catch {
                let origin = Origin(file: file, place: error.place ?? member.value.place)
                fault(table + "." + key.name, error.sentence, hint: error.hint, at: origin)
            }
        }
        return taken
    }

    private mutating func unknownKey(_ member: TOMLMember, table: String, known: [String]) {
        var hint = nearestName(to: member.key, among: known).map { "did you mean `\($0)`?" }
        let elsewhere = Schema.tables(with: member.key)
        if !elsewhere.isEmpty { hint = "it belongs to " + elsewhere.joined(separator: " or ") }
        fault(
            table + "." + member.key, "unknown key", hint: hint ?? "known are " + known.joined(separator: ", "),
            at: Origin(file: file, place: member.place))
    }

    private mutating func unknownTopLevel(_ member: TOMLMember) {
        let isTable =
            switch member.value.content {
            case .table, .array: true
            default: false
            }
        var hint = nearestName(to: member.key, among: Schema.tables).map { "did you mean `\($0)`?" }
        let elsewhere = Schema.tables(with: member.key)
        if !isTable, !elsewhere.isEmpty { hint = "it belongs to " + elsewhere.joined(separator: " or ") }
        fault(
            member.key, isTable ? "unknown table" : "unknown key",
            hint: hint ?? "known tables are " + Schema.tables.joined(separator: ", "),
            at: Origin(file: file, place: member.place))
    }
}

/// Drop folders: the same name in a later file means the same folder.
extension SettingsReader {
    private mutating func readDrops(_ member: TOMLMember) {
        guard case .array(let elements) = member.value.content else {
            let origin = Origin(file: file, place: member.place)
            return fault("drop", member.value.isNot("an array of tables").sentence, hint: "write [[drop]]", at: origin)
        }
        var firstHere: [String: Origin] = [:]
        for element in elements {
            let origin = Origin(file: file, place: element.place)
            guard case .table(let members) = element.content else {
                fault("drop", element.isNot("a table").sentence, hint: "write [[drop]]", at: origin)
                continue
            }
            readDrop(members, from: origin, &firstHere)
        }
    }

    private mutating func readDrop(_ members: [TOMLMember], from start: Origin, _ firstHere: inout [String: Origin]) {
        var draft = Draft(folder: DropFolder(name: "", path: Path(bytes: [])), origins: ["": start])
        var index: Int?
        let nameMember = members.first { $0.key == "name" }
        if case .string(let name)? = nameMember?.value.content {
            let origin = Origin(file: file, place: nameMember?.value.place ?? start.place)
            if let first = firstHere[name] {
                fault(
                    "drop.name", "\"\(name)\" is the name of the drop in line \(first.place.line) too",
                    hint: "each drop needs a name of its own", at: origin)
            } else {
                firstHere[name] = origin
                index = drafts.firstIndex { $0.folder.name == name }
                if let index { draft = drafts[index] }
            }
        } else if nameMember == nil {
            fault("drop.name", "is missing", hint: "give the drop a name", at: start)
        }
        let taken = take(members, Schema.drop, into: &draft.folder, table: "drop")
        draft.origins.merge(taken) { _, new in new }
        // A drop without a good name was checked and reported; nothing else can refer to it.
        guard taken["name"] != nil else { return }
        if let index {
            drafts[index] = draft
        } else if firstHere[draft.folder.name]?.place == taken["name"]?.place {
            drafts.append(draft)
        }
    }
}
