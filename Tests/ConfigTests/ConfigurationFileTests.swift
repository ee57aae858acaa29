import PhotoModel
import Testing

@testable import Config

/// What is wrong with `text` as the only file, one printed fault each, without the folder's name.
private func faults(of text: String, groups: GroupNames = .all) throws -> [String] {
    try withTemporaryFolder { folder in
        let file = folder / "photospool.toml"
        try write(text, to: file)
        do throws(ConfigurationFaults) {
            _ = try ConfigurationFile.load(
                main: file, mustExist: true, dropIns: nil, defaults: Settings(), groups: groups)
            return []
        } catch {
            return error.faults.map { String($0.description.dropFirst(folder.shown.count + 1)) }
        }
    }
}

private func settings(of text: String) throws -> Settings {
    try withTemporaryFolder { folder in
        let file = folder / "photospool.toml"
        try write(text, to: file)
        return try ConfigurationFile.load(
            main: file, mustExist: true, dropIns: nil, defaults: Settings(), groups: .all)
    }
}

@Suite("The configuration") struct ConfigurationFileTests {
    @Test func `absent means the defaults`() throws {
        try withTemporaryFolder { folder in
            let loaded = try ConfigurationFile.load(
                main: folder / "absent.toml", mustExist: false, dropIns: folder / "absent.d")
            #expect(loaded == Settings())
        }
    }

    @Test func `asked for by name has to exist`() throws {
        try withTemporaryFolder { folder in
            let failure = try #require(throws: ConfigurationFaults.self) {
                try ConfigurationFile.load(main: folder / "absent.toml", mustExist: true, dropIns: nil)
            }
            #expect(
                failure.description
                    == "\(folder.shown)/absent.toml: cannot be read: no such file or directory (ENOENT)")
        }
    }

    @Test func `takes every key`() throws {
        let loaded = try settings(
            of: """
                [library]
                path = "/lib//photos/"
                template = "{drop}/{seq:4}{ext}"
                reserve_free = "5GB"
                file_mode = "0664"
                group = "media"
                [[drop]]
                name = "card"
                path = "/drop/card"
                template = "{make}/{stem}{ext}"
                max_file_size = "1TiB"
                watch = "poll"
                settle = "500ms"
                poll_interval = "1min"
                rescan_interval = "1h30min"
                after_import = "move"
                move_to = "/drop/done"
                ignore = ["*.bak", "!keep.bak"]
                recursive = false
                kinds = ["raw", "live_photo"]
                collection = "Weddings"
                group_wait = "0"
                [import]
                workers = 3
                verify = "readback"
                on_preview_failure = "strict"
                max_attempts = 1
                time_zone = ""
                sweep_after = "2d"
                memory_budget = "512 MiB"
                deadline = "1min"
                [preview]
                max_size = 2048
                quality = 90
                color = "keep"
                max_pixels = "1GP"
                cache_size = "10MiB"
                [[preview.rendition]]
                name = "thumb"
                max_size = 240
                crop = "square"
                [[preview.rendition]]
                name = "grid-2"
                [control]
                socket = "/run/x/s"
                mode = "0600"
                group = "photo"
                import_roots = ["/mnt/a", "/mnt/b"]
                [web]
                listen = ""
                token_file = ""
                [log]
                level = "debug"
                """)
        var expected = Settings()
        expected.library.path = Path("/lib/photos")
        expected.library.template = "{drop}/{seq:4}{ext}"
        expected.library.reserveFree = ByteCount(5_000_000_000)
        expected.library.fileMode = 0o664
        expected.library.group = "media"
        var drop = DropFolder(name: "card", path: Path("/drop/card"))
        drop.template = "{make}/{stem}{ext}"
        drop.maxFileSize = ByteCount(1_099_511_627_776)
        drop.watch = .poll
        drop.settle = .milliseconds(500)
        drop.pollInterval = .seconds(60)
        drop.rescanInterval = .seconds(5400)
        drop.afterImport = .move
        drop.moveTo = Path("/drop/done")
        drop.ignore = ["*.bak", "!keep.bak"]
        drop.isRecursive = false
        drop.kinds = [.raw, .livePhoto]
        drop.collection = "Weddings"
        drop.groupWait = .zero
        expected.drops = [drop]
        expected.importing.workers = 3
        expected.importing.onPreviewFailure = .strict
        expected.importing.maxAttempts = 1
        expected.importing.sweepAfter = .seconds(172_800)
        expected.importing.memoryBudget = ByteCount(536_870_912)
        expected.importing.deadline = .seconds(60)
        expected.preview.maxSize = 2048
        expected.preview.quality = 90
        expected.preview.colour = .keep
        expected.preview.maxPixels = Pixels(1_000_000_000)
        expected.preview.cacheSize = .mebi(10)
        expected.preview.renditions = [
            RenditionSpec(name: "thumb", maxSize: 240, crop: .square), RenditionSpec(name: "grid-2"),
        ]
        expected.control.socket = Path("/run/x/s")
        expected.control.mode = 0o600
        expected.control.group = "photo"
        expected.control.importRoots = [Path("/mnt/a"), Path("/mnt/b")]
        expected.logLevel = .debug
        #expect(loaded == expected)
    }

    @Test func `written out and read again is the same`() throws {
        var original = Settings()
        var drop = DropFolder(name: "a \"b\" \\ ä", path: Path("/drop/ü"))
        drop.settle = .milliseconds(1500)
        drop.maxFileSize = ByteCount(1_000_001)
        drop.ignore = ["*.\"x", "!y\\"]
        drop.kinds = [.video, .screenshot]
        original.drops = [drop, DropFolder(name: "b", path: Path("/other"))]
        original.library.reserveFree = ByteCount(5_000_000_000)
        original.importing.memoryBudget = .mebi(768)
        original.preview.renditions = [RenditionSpec(name: "thumb", maxSize: 240, crop: .square)]
        original.preview.maxPixels = Pixels(12_345_678)
        original.control.importRoots = [Path("/x y")]
        #expect(try settings(of: ConfigurationFile.text(of: original)) == original)
        #expect(try settings(of: ConfigurationFile.text(of: Settings())) == Settings())
        #expect(ConfigurationFile.text(of: original).contains("\nreserve_free = \"5GB\"\n"))
        #expect(ConfigurationFile.text(of: original).contains("\nsettle = \"1500ms\"\n"))
    }

    @Test func `says everything that is wrong at once, where it stands`() throws {
        let found = try faults(
            of: """
                [library]
                path = "srv/photos"
                template = "{yaer}/{stem}{ext}"
                reserve_free = 5

                [[drop]]
                name = "card"
                path = "/drop/card"
                  setle = "2s"
                after_import = "moves"
                kinds = ["photo", "vidio"]

                [import]
                workers = -1
                deadline = "30"
                settle = "2s"

                [contorl]
                mode = "0660"
                """)
        #expect(
            found == [
                "photospool.toml:2:8: library.path: \"srv/photos\" is not an absolute path; start it with a slash",
                "photospool.toml:3:13: library.template: has the unknown token {yaer}; did you mean `{year}`?",
                "photospool.toml:4:16: library.reserve_free: an integer stands where a string with a unit is needed; "
                    + "write it as \"1GiB\"",
                "photospool.toml:9:3: drop.setle: unknown key; did you mean `settle`?",
                "photospool.toml:10:16: drop.after_import: \"moves\" is not allowed; did you mean \"move\"? "
                    + "allowed are \"keep\", \"move\", \"delete\"",
                "photospool.toml:11:19: drop.kinds: \"vidio\" is not allowed; did you mean \"video\"? "
                    + "allowed are \"photo\", \"raw\", \"video\", \"live_photo\", \"screenshot\"",
                "photospool.toml:14:11: import.workers: -1 is not from 0 to 256",
                "photospool.toml:15:12: import.deadline: \"30\" is not a time; write it as \"2s\"; "
                    + "units are ms, s, min, h, d",
                "photospool.toml:16:1: import.settle: unknown key; it belongs to [[drop]]",
                "photospool.toml:18:2: contorl: unknown table; did you mean `control`?",
            ])
    }

    /// Line and column of the brace that opens the token, in the library's template and in a drop's.
    @Test func `points at the wrong token, wherever it stands in a template`() throws {
        let found = try faults(
            of: """
                [library]
                path = "/srv/photos"
                template = "{year}/{model}/{yaer}-{stem}{ext}"

                [[drop]]
                name = "card"
                path = "/drop/card"
                template = 'Ausflüge/{drop}/{sha:99}{ext}'
                """)
        #expect(
            found == [
                "photospool.toml:3:28: library.template: has the unknown token {yaer}; did you mean `{year}`?",
                "photospool.toml:8:29: drop.template: gives {sha} a width that is no number from 4 to 64",
            ])
    }
}
