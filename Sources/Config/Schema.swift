internal import PhotoModel

/// Every key of DESIGN section 9, with its range. What is not here is unknown.
enum Schema {
    /// The tables of the file, for messages about unknown ones.
    static let tables = ["library", "drop", "import", "preview", "control", "web", "log"]

    static func library(_ groups: GroupNames) -> [SettingKey<LibrarySettings>] {
        [
            .path("path", \.path),
            .path("mirror", \.mirror, mayBeEmpty: true),
            .text("template", \.template) { text, value throws(Misfit) in
                guard !text.isEmpty else {
                    throw Misfit("is empty", hint: "the usual one is `\(NamingTemplate.usual)`")
                }
                try checkTemplate(text, value)
            },
            .size("reserve_free", \.reserveFree),
            .mode("file_mode", needed: 0o600, allowed: 0o664, \.fileMode),
            .text("group", \.group) { text, _ throws(Misfit) in try groups.check(text) },
        ]
    }

    static var drop: [SettingKey<DropFolder>] {
        [
            .text("name", \.name) { text, _ throws(Misfit) in try checkName(text) },
            .path("path", \.path),
            .text("template", \.template) { text, value throws(Misfit) in
                if !text.isEmpty { try checkTemplate(text, value) }
            },
            SettingKey("max_file_size") { value, drop throws(Misfit) in
                let size = try value.size()
                guard size > .zero else { throw Misfit("has to be more than 0") }
                drop.maxFileSize = size
            },
            .choice("watch", \.watch),
            .duration("settle", .zero ... .seconds(3600), \.settle),
            .duration("poll_interval", .milliseconds(100) ... .seconds(86_400), \.pollInterval),
            .duration("rescan_interval", .seconds(1) ... .seconds(7 * 86_400), \.rescanInterval),
            SettingKey("after_import") { value, drop throws(Misfit) in
                drop.afterImport = try value.choice(among: [Disposition.keep, .move, .delete])
            },
            .path("move_to", \.moveTo, mayBeEmpty: true),
            SettingKey("ignore") { value, drop throws(Misfit) in
                let globs = try value.strings()
                for (glob, element) in globs where glob.isEmpty || glob == "!" {
                    throw Misfit("holds an empty pattern", at: element.place)
                }
                drop.ignore = globs.map(\.text)
            },
            .flag("recursive", \.isRecursive),
            SettingKey("kinds") { value, drop throws(Misfit) in
                var kinds: Set<AssetKind> = []
                for (_, element) in try value.strings() {
                    do throws(Misfit) {
                        kinds.insert(try element.choice(among: AssetKind.allCases))
                    } catch {
                        throw Misfit(error.sentence, hint: error.hint, at: element.place)
                    }
                }
                drop.kinds = kinds
            },
            .text("collection", \.collection),
            .duration("group_wait", .zero ... .seconds(3600), \.groupWait),
        ]
    }

    static var importing: [SettingKey<ImportSettings>] {
        [
            .number("workers", 0...256, \.workers),
            .choice("verify", \.verify),
            .choice("on_preview_failure", \.onPreviewFailure),
            .number("max_attempts", 1...1000, \.maxAttempts),
            .text("time_zone", \.timeZone) { text, _ throws(Misfit) in try checkTimeZone(text) },
            .duration("sweep_after", .zero ... .seconds(366 * 86_400), \.sweepAfter),
            SettingKey("memory_budget") { value, settings throws(Misfit) in
                if case .string("") = value.content {
                    settings.memoryBudget = nil
                    return
                }
                let size = try value.size()
                guard size >= .mebi(16) else { throw Misfit("has to be 16MiB or more", hint: "\"\" chooses by itself") }
                settings.memoryBudget = size
            },
            .duration("deadline", .milliseconds(100) ... .seconds(3600), \.deadline),
        ]
    }

    static var preview: [SettingKey<PreviewSettings>] {
        [
            .number("max_size", 16...16_384, \.maxSize),
            .number("quality", 1...100, \.quality),
            .choice("color", \.colour),
            .pixels("max_pixels", \.maxPixels),
            .size("cache_size", \.cacheSize),
            SettingKey("rendition") { value, settings throws(Misfit) in
                guard case .array(let elements) = value.content else {
                    throw Misfit(value.isNot("an array of tables").sentence, hint: "write [[preview.rendition]]")
                }
                guard elements.count <= RenditionSpec.most else {
                    throw Misfit("there are \(elements.count)", hint: "at most \(RenditionSpec.most) can be made")
                }
                settings.renditions = try renditions(elements)
            },
        ]
    }

    static var rendition: [SettingKey<RenditionSpec>] {
        [
            .text("name", \.name) { name, _ throws(Misfit) in
                guard !RenditionSpec.isGood(name: name) else { return }
                throw Misfit(
                    "\"\(name)\" cannot be a part of a file's name",
                    hint: "use up to 32 of a-z, 0-9, - and _, beginning with a letter or digit; not preview")
            },
            .number("max_size", 16...16_384, \.maxSize),
            .choice("crop", \.crop),
        ]
    }

    private static func renditions(_ elements: [TOMLValue]) throws(Misfit) -> [RenditionSpec] {
        var renditions: [RenditionSpec] = []
        for element in elements {
            guard case .table(let members) = element.content else {
                throw Misfit(element.isNot("a table").sentence, hint: "write [[preview.rendition]]", at: element.place)
            }
            var one = RenditionSpec(name: "")
            for member in members {
                guard let key = rendition.first(where: { $0.name == member.key }) else {
                    let meant = nearestName(to: member.key, among: rendition.map(\.name))
                    throw Misfit(
                        "unknown key `\(member.key)`",
                        hint: meant.map { "did you mean `\($0)`?" } ?? "known are name, max_size, crop",
                        at: member.place)
                }
                do throws(Misfit) { try key.take(member.value, &one) } catch {
                    throw Misfit(
                        "\(member.key): \(error.sentence)", hint: error.hint, at: error.place ?? member.value.place)
                }
            }
            guard !one.name.isEmpty else {
                throw Misfit("name is missing", hint: "give the rendition a name", at: element.place)
            }
            guard !renditions.contains(where: { $0.name == one.name }) else {
                throw Misfit(
                    "\"\(one.name)\" is the name of two", hint: "each rendition needs a name of its own",
                    at: element.place)
            }
            renditions.append(one)
        }
        return renditions
    }

    static func control(_ groups: GroupNames) -> [SettingKey<ControlSettings>] {
        [
            SettingKey("socket") { value, settings throws(Misfit) in
                let path = try value.path(mayBeEmpty: false)
                guard path.bytes.count <= 107 else {
                    throw Misfit("is \(path.bytes.count) bytes long", hint: "a socket's path has at most 107")
                }
                settings.socket = path
            },
            .mode("mode", needed: 0o600, allowed: 0o666, \.mode),
            .text("group", \.group) { text, _ throws(Misfit) in try groups.check(text) },
            SettingKey("import_roots") { value, settings throws(Misfit) in
                var roots: [Path] = []
                for (_, element) in try value.strings() {
                    do throws(Misfit) {
                        roots.append(try element.path(mayBeEmpty: false))
                    } catch {
                        throw Misfit(error.sentence, hint: error.hint, at: element.place)
                    }
                }
                settings.importRoots = roots
            },
        ]
    }

    static var web: [SettingKey<Settings>] {
        ["listen", "token_file"].map { name in
            .later(name, off: "\(name) = \"\"") { value in if case .string("") = value.content { true } else { false } }
        }
    }

    static var log: [SettingKey<Settings>] { [.choice("level", \.logLevel)] }

    /// The tables a key belongs to, for whoever wrote it into the wrong one.
    static func tables(with key: String) -> [String] {
        let names: [(String, [String])] = [
            ("[library]", library(.all).map(\.name)), ("[[drop]]", drop.map(\.name)),
            ("[import]", importing.map(\.name)), ("[preview]", preview.map(\.name)),
            ("[control]", control(.all).map(\.name)), ("[web]", web.map(\.name)), ("[log]", log.map(\.name)),
        ]
        return names.filter { $0.1.contains(key) }.map(\.0)
    }
}

/// The names a drop folder may have: one short line that also works as a folder and as a log field.
private func checkName(_ name: String) throws(Misfit) {
    guard !name.isEmpty else { throw Misfit("is empty") }
    guard name.utf8.count <= 64 else { throw Misfit("is longer than 64 bytes") }
    guard !name.contains("/"), name.first != ".", name.first != " ", name.last != " ", SafeText.of(name) == name else {
        throw Misfit("\"\(name)\" cannot be a name", hint: "use letters, digits, - and _")
    }
}

private func checkTemplate(_ text: String, _ value: TOMLValue) throws(Misfit) {
    do throws(NamingTemplate.Fault) {
        _ = try NamingTemplate(text)
    } catch {
        throw Misfit(error.sentence, hint: error.hint, at: value.place(ofCharacter: error.offset))
    }
}
