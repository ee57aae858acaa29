import PhotoModel
import Testing

@testable import Config

@Suite("Locations") struct LocationsTests {
    @Test func `root has the system's`() {
        let found = Locations.default(forUser: 0, environment: ["HOME": "/root", "XDG_CONFIG_HOME": "/root/c"])
        #expect(found == .system)
        #expect(found.configuration.shown == "/etc/photospool/photospool.toml")
        #expect(found.defaults == Settings())
    }

    @Test func `a user has their own by the XDG specification`() {
        let set = Locations.default(
            forUser: 1000,
            environment: [
                "HOME": "/home/a", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/run/user/1000",
            ])
        #expect(set.configuration.shown == "/c/photospool/photospool.toml")
        #expect(set.dropIns.shown == "/c/photospool/conf.d")
        #expect(set.stateDirectory.shown == "/s/photospool")
        #expect(set.socket.shown == "/run/user/1000/photospool/control.sock")
        #expect(set.defaults.control.socket == set.socket)

        // Relative ones are to be ignored, says the specification.
        let fallback = Locations.default(forUser: 1000, environment: ["HOME": "/home/a", "XDG_CONFIG_HOME": "c"])
        #expect(fallback.configuration.shown == "/home/a/.config/photospool/photospool.toml")
        #expect(fallback.stateDirectory.shown == "/home/a/.local/state/photospool")
        #expect(fallback.socket.shown == "/home/a/.local/state/photospool/control.sock")

        #expect(Locations.default(forUser: 1000, environment: [:]) == .system)
    }

    @Test func `a service has what its manager made`() {
        let found = Locations.default(
            forUser: 999,
            environment: [
                "HOME": "/var/lib/photospool", "STATE_DIRECTORY": "/var/lib/x:/var/lib/y",
                "CONFIGURATION_DIRECTORY": "/etc/x", "RUNTIME_DIRECTORY": "/run/x",
            ])
        #expect(found.configuration.shown == "/etc/x/photospool.toml")
        #expect(found.stateDirectory.shown == "/var/lib/x")
        #expect(found.socket.shown == "/run/x/control.sock")
    }
}

@Suite("The default file") struct DefaultFileTests {
    private var file: Path {
        let tests = Path(#filePath).parent.parent
        return tests.parent / "etc/photospool.toml"
    }

    /// The defaults, and the folder that the service's tmpfiles.d makes, so that it can be used as it is.
    private var expected: Settings {
        var expected = Settings()
        expected.drops = [DropFolder(name: "drop", path: Path("/srv/drop"))]
        return expected
    }

    @Test func `says nothing but the defaults and one drop folder`() throws {
        let loaded = try ConfigurationFile.load(main: file, mustExist: true, dropIns: nil)
        #expect(loaded == expected)
    }

    @Test func `shows every key with a value that is the default`() throws {
        let text = try String(decoding: contents(of: file), as: UTF8.self)
        // A line `# key = value` is a setting; prose lines have no such form.
        let shown = text.split(separator: "\n").map { line -> Substring in
            guard line.hasPrefix("# ") else { return line }
            let rest = line.dropFirst(2)
            let first = rest.prefix { $0.isLowercase || $0 == "_" }
            return rest.hasPrefix("[[") || !first.isEmpty && rest.dropFirst(first.count).hasPrefix(" = ") ? rest : line
        }
        try withTemporaryFolder { folder in
            let copy = folder / "photospool.toml"
            try write(shown.joined(separator: "\n"), to: copy)
            let loaded = try ConfigurationFile.load(main: copy, mustExist: true, dropIns: nil)
            #expect(loaded == expected)
        }
        let keys: [String] =
            Schema.library(.all).map(\.name) + Schema.drop.map(\.name) + Schema.importing.map(\.name)
            + Schema.preview.map(\.name).filter { $0 != "rendition" } + Schema.control(.all).map(\.name)
            + Schema.log.map(\.name)
        for key in keys {
            #expect(text.contains("\n# \(key) = ") || text.contains("\n\(key) = "), "\(key) is not shown")
        }
    }
}
