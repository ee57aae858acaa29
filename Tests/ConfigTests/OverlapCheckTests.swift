import Files
import Glibc
import PhotoModel
import Testing

@testable import Config

private func settings(library: Path, drops: [Path], recursive: Bool = true) -> Settings {
    var settings = Settings()
    settings.library.path = library
    settings.drops = drops.enumerated().map { position, path in
        var drop = DropFolder(name: "drop\(position)", path: path)
        drop.isRecursive = recursive
        return drop
    }
    return settings
}

private func codes(_ settings: Settings, state: Path? = nil) -> [Problem.Code] {
    OverlapCheck.problems(settings: settings, stateDirectory: state).map(\.code)
}

@Suite("Folders inside each other") struct OverlapCheckTests {
    @Test func `are refused by name, also when they do not exist yet`() throws {
        try withTemporaryFolder { folder in
            #expect(codes(settings(library: folder / "lib", drops: [folder / "drop"])) == [])
            #expect(codes(settings(library: folder / "lib", drops: [folder / "lib/in"])) == [.overlap])
            #expect(codes(settings(library: folder / "drop/lib", drops: [folder / "drop"])) == [.overlap])
            #expect(codes(settings(library: folder / "x", drops: [folder / "x"])) == [.overlap])
            // A longer name is not a folder inside.
            #expect(codes(settings(library: folder / "lib", drops: [folder / "lib2"])) == [])
        }
    }

    @Test func `are refused through symbolic links`() throws {
        try withTemporaryFolder { folder in
            try makeFolder(folder / "lib")
            try makeFolder(folder / "lib/in")
            try makeFolder(folder / "drop")
            try makeLink(folder / "link", to: folder / "lib/in")
            try makeLink(folder / "up", to: folder)
            #expect(codes(settings(library: folder / "lib", drops: [folder / "link"])) == [.overlap])
            #expect(codes(settings(library: folder / "lib", drops: [folder / "up"])) == [.overlap])
            #expect(codes(settings(library: folder / "lib", drops: [folder / "up/drop"])) == [])
            #expect(codes(settings(library: folder / "lib", drops: [folder / "link/not-yet"])) == [.overlap])
        }
    }

    @Test func `are refused through bind mounts`() {
        // As `mount --bind /srv/photos/2026 /mnt/year` shows in mountinfo, beside the filesystem's own mount.
        let mounts = """
            22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
            30 22 8:1 /srv/photos/2026 /mnt/year\\040one rw,relatime shared:1 - ext4 /dev/sda1 rw
            31 22 8:2 / /mnt/other rw - ext4 /dev/sdb1 rw
            broken line
            """.utf8.split(separator: UInt8(ascii: "\n")).compactMap { Mount(line: $0) }
        #expect(mounts.map(\.point.shown) == ["/", "/mnt/year one", "/mnt/other"])
        let within = { (drop: String) in
            OverlapCheck.problems(
                settings: settings(library: Path("/srv/photos"), drops: [Path(drop)]), stateDirectory: nil,
                mounts: mounts
            ).map(\.code)
        }
        #expect(within("/mnt/year one") == [.overlap])
        #expect(within("/mnt/year one/drop") == [.overlap])
        #expect(within("/mnt/other/srv/photos") == [])
    }

    @Test func `are found on shares that are not asked, by names, mounts, and the links that lead there`() throws {
        try withTemporaryFolder { base in
            // Links to a share that no process of this machine could open.
            _ = unsafe symlink("/nowhere/nas/photos/drop", (base / "inside").shown)
            _ = unsafe symlink("/nowhere/again/drop", (base / "again").shown)
            let mounts = """
                22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
                30 22 0:50 / /nowhere/nas rw - nfs4 server:/export rw
                31 22 0:50 /photos /nowhere/again rw - nfs4 server:/export/photos rw
                """.utf8.split(separator: UInt8(ascii: "\n")).compactMap { Mount(line: $0) }
            let found = { (drop: Path) in
                OverlapCheck.problems(
                    settings: settings(library: Path("/nowhere/nas/photos"), drops: [drop]), stateDirectory: nil,
                    mounts: mounts, askingServers: false
                ).map(\.code)
            }
            #expect(found(base / "inside") == [.overlap])
            #expect(found(base / "again") == [.overlap])
            #expect(found(Path("/nowhere/nas")) == [.overlap])
            #expect(found(Path("/nowhere/nas/drop")) == [])
            #expect(found(base) == [])
        }
    }

    @Test func `take in the state directory and other drops`() throws {
        try withTemporaryFolder { folder in
            try makeFolder(folder / "drop")
            try makeFolder(folder / "drop/inner")
            try makeLink(folder / "again", to: folder / "drop")
            let library = folder / "lib"
            #expect(codes(settings(library: library, drops: [folder / "drop"]), state: folder / "drop/s") == [.overlap])
            #expect(codes(settings(library: library, drops: [folder / "drop"]), state: folder / "state") == [])
            #expect(codes(settings(library: library, drops: [folder / "drop", folder / "again"])) == [.overlap])
            #expect(codes(settings(library: library, drops: [folder / "drop", folder / "again/inner"])) == [.overlap])
            #expect(
                codes(settings(library: library, drops: [folder / "drop", folder / "again/inner"], recursive: false))
                    == [])
        }
    }

    @Test func `and a move to another filesystem is said before the first source`() throws {
        try withTemporaryFolder { folder in
            try makeFolder(folder / "drop")
            var checked = settings(library: folder / "lib", drops: [folder / "drop"])
            checked.drops[0].afterImport = .move
            checked.drops[0].moveTo = Path("/proc/moved")  // /proc is a filesystem of its own everywhere
            #expect(codes(checked) == [.config])
            checked.drops[0].moveTo = folder / "moved/not/yet"
            #expect(codes(checked) == [])
            checked.drops[0].moveTo = folder / "lib/moved"
            #expect(codes(checked) == [.overlap])
        }
    }

    @Test func `are refused for a mirror with the library and with every drop, in both directions`() throws {
        try withTemporaryFolder { folder in
            func with(_ mirror: String, drop: String = "drop") -> Settings {
                var found = settings(library: folder / "lib", drops: [folder / "other", folder / drop])
                found.library.mirror = folder / mirror
                return found
            }
            #expect(codes(with("mir")) == [])
            #expect(codes(with("lib2")) == [])
            #expect(codes(with("lib")) == [.overlap])
            #expect(codes(with("lib/mir")) == [.overlap])
            #expect(codes(with("lib/.mir")) == [.overlap])
            #expect(codes(with("drop/mir")) == [.overlap])
            #expect(codes(with("mir", drop: "mir/drop")) == [.overlap])
            #expect(codes(with("mir", drop: "mir")) == [.overlap])
            // Above the library and both drops.
            var above = with("mir")
            above.library.mirror = folder
            #expect(codes(above) == [.overlap, .overlap, .overlap])
            var moving = with("mir")
            moving.drops[0].afterImport = .move
            moving.drops[0].moveTo = folder / "mir/done"
            #expect(codes(moving) == [.overlap])
        }
    }

    @Test func `are refused for a mirror through links and bind mounts`() throws {
        try withTemporaryFolder { folder in
            for name in ["lib", "lib/in", "drop", "drop/in"] { try makeFolder(folder / name) }
            try makeLink(folder / "to-lib", to: folder / "lib/in")
            try makeLink(folder / "to-drop", to: folder / "drop")
            var found = settings(library: folder / "lib", drops: [folder / "drop"])
            for link in ["to-lib", "to-drop", "to-drop/in", "to-drop/not-yet"] {
                found.library.mirror = folder / link
                #expect(codes(found) == [.overlap], "\(link)")
            }
        }
        // A share is not touched; that it shows a folder of the library's filesystem is known from the mounts.
        let mounts = """
            22 1 0:50 / /srv rw - nfs4 nas:/export rw
            30 22 0:50 /photos/2026 /mnt/second rw - nfs4 nas:/export rw
            31 22 0:51 / /mnt/third rw - nfs4 other:/export rw
            """.utf8.split(separator: UInt8(ascii: "\n")).compactMap { Mount(line: $0) }
        for (mirror, expected) in [("/mnt/second", [Problem.Code.overlap]), ("/mnt/third", [])] {
            var found = settings(library: Path("/srv/photos"), drops: [Path("/drop")])
            found.library.mirror = Path(mirror)
            #expect(OverlapCheck.problems(settings: found, stateDirectory: nil, mounts: mounts).map(\.code) == expected)
        }
    }
}
