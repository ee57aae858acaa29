import PhotoModel
import Testing

@testable import Config

private func load(_ folder: Path) throws(ConfigurationFaults) -> Settings {
    try ConfigurationFile.load(
        main: folder / "photospool.toml", mustExist: true, dropIns: folder / "conf.d", defaults: Settings(),
        groups: .all)
}

private func printed(_ folder: Path) throws -> [String] {
    do throws(ConfigurationFaults) {
        _ = try load(folder)
        return []
    } catch {
        return error.faults.map { String($0.description.dropFirst(folder.shown.count + 1)) }
    }
}

@Suite("Drop-ins") struct DropInTests {
    @Test func `win by the order of their names and change or add drops`() throws {
        try withTemporaryFolder { folder in
            try makeFolder(folder / "conf.d")
            try write(
                """
                [preview]
                quality = 70
                max_size = 900
                [[drop]]
                name = "card"
                path = "/drop/card"
                settle = "3s"
                """, to: folder / "photospool.toml")
            try write("[preview]\nquality = 80\n", to: folder / "conf.d/20-late.toml")
            try write(
                """
                [preview]
                quality = 75
                [[drop]]
                name = "card"
                watch = "poll"
                [[drop]]
                name = "nas"
                path = "/drop/nas"
                """, to: folder / "conf.d/10-early.toml")
            try write("this is not read", to: folder / "conf.d/README")
            try write("nor = this", to: folder / "conf.d/.hidden.toml")

            let settings = try load(folder)
            #expect(settings.preview.quality == 80)
            #expect(settings.preview.maxSize == 900)
            var card = DropFolder(name: "card", path: Path("/drop/card"))
            card.settle = .seconds(3)
            card.watch = .poll
            #expect(settings.drops == [card, DropFolder(name: "nas", path: Path("/drop/nas"))])
        }
    }

    @Test func `show their faults together, file by file`() throws {
        try withTemporaryFolder { folder in
            try makeFolder(folder / "conf.d")
            try write("[log]\nlevel = \"loud\"\n", to: folder / "photospool.toml")
            try write("[preview]\nquality = \n", to: folder / "conf.d/a.toml")
            try write("[preview]\nquality = 101\n", to: folder / "conf.d/b.toml")
            #expect(
                try printed(folder) == [
                    "photospool.toml:2:9: log.level: \"loud\" is not allowed; "
                        + "allowed are \"error\", \"warning\", \"info\", \"debug\"",
                    "conf.d/a.toml:2:11: is not TOML: expected value, saw '\\n'; "
                        + "the rest of the file was not looked at",
                    "conf.d/b.toml:2:11: preview.quality: 101 is not from 1 to 100",
                ])
        }
    }
}

@Suite("Keys that do not go together") struct CrossCheckTests {
    private func faults(_ text: String) throws -> [String] {
        try withTemporaryFolder { folder in
            try write(text, to: folder / "photospool.toml")
            return try printed(folder)
        }
    }

    @Test func `copy alone never lets a source go`() throws {
        let text = """
            [[drop]]
            name = "card"
            path = "/drop/card"
            after_import = "delete"
            [import]
            verify = "copy"
            """
        #expect(
            try faults(text) == [
                "photospool.toml:6:10: import.verify: \"copy\" does not go with after_import = \"delete\" of the drop "
                    + "\"card\"; write \"readback\": a source goes only after its original was read again"
            ])
    }

    @Test func `a drop has a name of its own, a path, and files of its own`() throws {
        let text = """
            [[drop]]
            name = "a"
            path = "/drop"
            [[drop]]
            name = "a"
            path = "/other"
            [[drop]]
            path = "/nameless"
            [[drop]]
            name = "c"
            [[drop]]
            name = "d"
            path = "/drop/inner"
            [[drop]]
            name = "e"
            path = "/drop"
            """
        #expect(
            try faults(text) == [
                "photospool.toml:5:8: drop.name: \"a\" is the name of the drop in line 2 too; "
                    + "each drop needs a name of its own",
                "photospool.toml:7:1: drop.name: is missing; give the drop a name",
                "photospool.toml:9:1: drop.path: is missing for the drop \"c\"; write an absolute path",
                "photospool.toml:13:8: drop.path: lies inside the drop \"a\", which takes its files already; "
                    + "move it out, or write recursive = false there",
                "photospool.toml:16:8: drop.path: is the path of the drop \"a\" too",
                "photospool.toml:16:8: drop.path: holds the drop \"d\" inside and takes its files too; "
                    + "move that out, or write recursive = false here",
            ])
    }

    @Test func `moved sources do not come back and do not enter the library`() throws {
        let text = """
            [library]
            path = "/lib"
            [[drop]]
            name = "a"
            path = "/drop"
            after_import = "move"
            move_to = "/drop/done"
            [[drop]]
            name = "b"
            path = "/other"
            after_import = "move"
            move_to = "/lib/moved"
            [[drop]]
            name = "c"
            path = "/third"
            after_import = "move"
            move_to = "/third/.done"
            """
        #expect(
            try faults(text) == [
                "photospool.toml:7:11: drop.move_to: would be taken in again by the drop \"a\"; "
                    + "choose a folder outside, or a hidden one",
                "photospool.toml:12:11: drop.move_to: lies inside the library; choose a folder outside",
            ])
    }

    @Test func `features of later versions are refused, not ignored`() throws {
        let text = """
            [web]
            listen = "127.0.0.1:8490"
            token_file = ""
            """
        #expect(
            try faults(text) == [
                "photospool.toml:2:10: web.listen: is not in this version; leave the key out, or write listen = \"\""
            ])
    }

    @Test(arguments: [
        ("name = \"../x\"", "3:8", "name: \"../x\" cannot be a part of a file's name"),
        ("name = \"preview\"", "3:8", "name: \"preview\" cannot be a part of a file's name"),
        ("name = \"a\"\nmax_size = 8", "4:12", "max_size: 8 is not from 16 to 16384"),
        ("name = \"a\"\ncrop = \"round\"", "4:8", "crop: \"round\" is not allowed"),
        ("name = \"a\"\nmax_szie = 80", "4:1", "unknown key `max_szie`; did you mean `max_size`?"),
        ("max_size = 80", "2:1", "name is missing"),
        ("name = \"a\"\n[[preview.rendition]]\nname = \"a\"", "4:1", "\"a\" is the name of two"),
    ])
    func `a rendition that cannot be is refused, with its place`(text: String, place: String, sentence: String) throws {
        let found = try faults("[preview]\n[[preview.rendition]]\n" + text)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("photospool.toml:\(place): preview.rendition: \(sentence)") == true, "\(found)")
    }

    @Test(arguments: [
        (
            "[library]\nfile_mode = \"0777\"",
            "2:13: library.file_mode: \"0777\" grants too much; at most \"0664\" is allowed"
        ),
        (
            "[library]\nfile_mode = \"0440\"",
            "2:13: library.file_mode: \"0440\" takes from the service what it needs; add \"0600\""
        ),
        (
            "[library]\nfile_mode = 640",
            "2:13: library.file_mode: an integer stands where an octal mode as a string is needed; write it as \"0660\""
        ),
        ("[control]\nmode = \"rw\"", "2:8: control.mode: \"rw\" is no octal mode; write it as \"0660\""),
        (
            "[control]\nimport_roots = [\"/a\", \"b\"]",
            "2:23: control.import_roots: \"b\" is not an absolute path; start it with a slash"
        ),
        (
            "[import]\nmemory_budget = \"1MB\"",
            "2:17: import.memory_budget: has to be 16MiB or more; \"\" chooses by itself"
        ),
        (
            "[import]\nsweep_after = \"99999999999999999999h\"",
            "2:15: import.sweep_after: \"99999999999999999999h\" is not a time; write it as \"2s\"; units are ms, s, min, h, d"
        ),
        (
            "[import]\ntime_zone = \"../etc/passwd\"",
            "2:13: import.time_zone: there is no time zone \"../etc/passwd\"; write an IANA name such as \"Europe/Berlin\""
        ),
        (
            "[library]\npath = \"/srv/../etc\"",
            "2:8: library.path: \"/srv/../etc\" goes through . or ..; write the path without them"
        ),
        ("[library]\npath = \"/\"", "2:8: library.path: is the root directory; choose a folder"),
        ("[library]\npath = \"/a\\u0000b\"", "2:8: library.path: holds a control character"),
        ("[drop]\nname = \"a\"", "1:2: drop: a table stands where an array of tables is needed; write [[drop]]"),
        ("[[library]]\npath = \"/a\"", "1:3: library: an array stands where a table is needed; write [library]"),
        ("level = \"debug\"", "1:1: level: unknown key; it belongs to [log]"),
        (
            "[library]\ntemplate = \"{stem}\"",
            "2:19: library.template: has to end in {ext}; the files of one shot differ only there, as in `{year}/{year}-{month}-{day}/{stem}{ext}`"
        ),
    ])
    func `each value is held to its kind and range`(text: String, expected: String) throws {
        #expect(try faults(text) == ["photospool.toml:" + expected])
    }

    @Test func `an unknown group is found before a photo needs it`() throws {
        try withTemporaryFolder { folder in
            let file = folder / "photospool.toml"
            try write("[library]\ngroup = \"no-such-group-here\"\n", to: file)
            let failure = try #require(throws: ConfigurationFaults.self) {
                try ConfigurationFile.load(main: file, mustExist: true, dropIns: nil)
            }
            #expect(failure.faults.map(\.key) == ["library.group"])
            #expect(failure.problem.code == .config)
            try write("[library]\ngroup = \"root\"\n", to: file)
            #expect(try ConfigurationFile.load(main: file, mustExist: true, dropIns: nil).library.group == "root")
        }
    }

    @Test func `what is printed cannot forge lines or colours`() throws {
        let printed = try faults("\"a\\u001B[31m\\nb\" = 1")
        #expect(printed.count == 1)
        #expect(!printed[0].contains("\u{1B}") && !printed[0].contains("\n"))
    }
}
