import FakeService
import Glibc
import Testing

@Suite("photospool init") struct InitTests {
    @Test func `makes a folder a library, once`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        let library = folder + "/photos"
        let first = try Program.run(["init", library])
        #expect(first.status == 0)
        #expect(first.output == "\(library) is a library now.\n")
        let marker = try contents(of: library + "/.photospool/library.json")
        let shape =
            #/\{"format": 1, "id": "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", "created_at": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}\n/#
        #expect(marker.wholeMatch(of: shape) != nil, "\(marker)")
        #expect(permissions(of: library + "/.photospool/staging") == 0o700)
        #expect(permissions(of: library + "/.photospool/previews") == 0o2750)
        #expect(permissions(of: library + "/.photospool/journal") == 0o700)
        #expect(permissions(of: library + "/.photospool/library.json") == 0o640)
        let again = try Program.run(["init", library, "--json"])
        #expect(again.status == 0)
        #expect(again.output.contains("\"created\":false"))
        #expect(try contents(of: library + "/.photospool/library.json") == marker)
        #expect(
            try capture("/bin/ls", ["-A", library + "/.photospool"]) == "journal\nlibrary.json\npreviews\nstaging\n")
    }

    @Test func `makes a folder a mirror of the configured library, once`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        let (library, mirror, file) = (folder + "/photos", folder + "/second", folder + "/photospool.toml")
        try write("[library]\npath = \"\(library)\"\nmirror = \"\(mirror)\"\n", to: file)
        // Of nothing there is no mirror.
        #expect(try Program.run(["init", "--mirror", "--config", file]).status == 1)
        #expect(try Program.run(["init", "--config", file]).status == 0)
        let made = try Program.run(["init", "--mirror", "--config", file])
        #expect(made.status == 0)
        #expect(made.output == "\(mirror) is a mirror now.\n")
        #expect(made.errors.contains("is no disk of its own"))
        let id = try contents(of: library + "/.photospool/library.json").split(separator: "\"")[5]
        let marker = try contents(of: mirror + "/.photospool/mirror.json")
        let shape =
            #/\{"format": 1, "id": "([0-9a-f-]{36})", "mirror_id": "([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})", "created_at": "[^"]+"\}\n/#
        let parts = try #require(marker.wholeMatch(of: shape), "\(marker)")
        #expect(parts.1 == id && parts.2 != id)
        #expect(try Program.run(["init", "--mirror", "--config", file]).output == "\(mirror) is a mirror already.\n")
        #expect(try contents(of: mirror + "/.photospool/mirror.json") == marker)
        #expect(try Program.run(["init", "--mirror", "--config", file, library]).status == 1)
        // The mirror of another library is left alone.
        try write(
            marker.replacing(id, with: "018f0000-0000-7000-8000-0000000000ab"), to: mirror + "/.photospool/mirror.json")
        #expect(try Program.run(["init", "--mirror", "--existing", "--config", file]).errors.contains("E_CONFLICT"))
    }

    @Test func `leaves a filled folder alone unless told to`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        try write("mine", to: folder + "/IMG_0001.jpg")
        let refused = try Program.run(["init", folder])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("is not empty: it holds IMG_0001.jpg."))
        #expect(refused.errors.contains("--existing"))
        #expect(try capture("/bin/ls", ["-A", folder]) == "IMG_0001.jpg\n")
        #expect(try Program.run(["init", "--existing", folder]).status == 0)
        #expect(try contents(of: folder + "/IMG_0001.jpg") == "mine")
    }

    @Test(arguments: [
        "", "{}", "{\"format\": 2, \"id\": \"0197a3c2-5e1b-7c44-9d0a-3f2b8c6d1e90\", \"created_at\": \"\"}",
    ])
    func `never replaces a marker it does not understand`(text: String) throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        #expect(unsafe mkdir(folder + "/.photospool", 0o700) == 0)
        try write(text, to: folder + "/.photospool/library.json")
        for words in [["init", folder], ["init", "--existing", folder]] {
            let result = try Program.run(words)
            #expect(result.status == 1)
            #expect(result.errors.contains("E_MARKER"))
        }
        #expect(try contents(of: folder + "/.photospool/library.json") == text)
    }

    @Test func `takes the library of the configuration when none is named`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        try write("[library]\npath = \"\(folder)/photos\"\n", to: folder + "/photospool.toml")
        #expect(try Program.run(["init", "--config", folder + "/photospool.toml"]).status == 0)
        #expect(permissions(of: folder + "/photos/.photospool/library.json") != nil)
    }

    @Test func `gives what root makes to whom the folder belongs`() throws {
        guard geteuid() == 0 else {
            print("skipped: giving files away (only root may)")
            return
        }
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        #expect(unsafe chown(folder, 4321, 1234) == 0)
        #expect(try Program.run(["init", folder]).status == 0)
        let owners = try capture("/usr/bin/find", [folder, "-printf", "%U:%G "]).split(separator: " ")
        #expect(owners == Array(repeating: "4321:1234", count: 6))
    }

    @Test func `says what to do when the folder cannot be made`() throws {
        let result = try Program.run(["init", "/nonexistent/photos"])
        #expect(result.status == 1)
        #expect(result.errors.contains("(ENOENT)"))
        #expect(result.errors.contains("Make the folder above it first."))
    }
}

@Suite("photospool config") struct ConfigCommandTests {
    private static let valid = """
        # with a comment
        [library]
        path = "/tmp/photospool-test-library"
        reserve_free = "1536MiB"
        [[drop]]
        name = "card"
        path = "/tmp/photospool-test-drop"
        settle = "1500ms"
        ignore = ["*.tmp", "quote\\"d"]
        kinds = ["raw", "photo"]
        [preview]
        max_pixels = "123456789px"
        [control]
        import_roots = ["/srv/a", "/srv/b"]

        """

    @Test func `says that a configuration is valid`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        try write(Self.valid, to: folder + "/a.toml")
        let result = try Program.run(["config", "check", "--config", folder + "/a.toml"])
        #expect(result.errors.isEmpty)
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("\(folder)/a.toml is valid: 1 drop folder"))
    }

    @Test func `names every fault with its place and exits with 78`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        try write("[library]\npaht = \"/x\"\n[import]\nworkers = \"many\"\n", to: folder + "/a.toml")
        for command in ["check", "show"] {
            let result = try Program.run(["config", command, "--config", folder + "/a.toml"])
            #expect(result.status == 78)
            #expect(result.output.isEmpty)
            #expect(result.errors.contains("\(folder)/a.toml:2"))
            #expect(result.errors.contains("\(folder)/a.toml:4"))
        }
        let json = try Program.run(["config", "check", "--json", "--config", folder + "/a.toml"])
        #expect(json.errors.hasPrefix("{\"code\":\"E_CONFIG\""))
        #expect(json.errors.contains("\"exit\":78"))
    }

    @Test func `shows settings that are themselves a configuration with the same settings`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        try write(Self.valid, to: folder + "/a.toml")
        let shown = try Program.run(["config", "show", "--config", folder + "/a.toml"])
        #expect(shown.status == 0, "\(shown.errors)")
        for line in [
            "reserve_free = \"1536MiB\"", "settle = \"1500ms\"", "ignore = [\"*.tmp\", \"quote\\\"d\"]",
            "kinds = [\"photo\", \"raw\"]", "quality = 82", "sweep_after = \"24h\"", "file_mode = \"0640\"",
        ] { #expect(shown.output.contains(line + "\n"), "\(line)") }
        try write(shown.output, to: folder + "/b.toml")
        let again = try Program.run(["config", "show", "--config", folder + "/b.toml"])
        #expect(again.output == shown.output, "\(again.errors)")
    }

    @Test func `prints the files as they are`() throws {
        let folder = try makeTemporaryFolder()
        defer { removeTree(folder) }
        try write(Self.valid, to: folder + "/a.toml")
        let result = try Program.run(["config", "cat", "--config", folder + "/a.toml"])
        #expect(result.output == "# \(folder)/a.toml\n" + Self.valid)
        #expect(try Program.run(["config", "cat", "--config", folder + "/absent.toml"]).status == 78)
    }
}
