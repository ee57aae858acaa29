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
}
