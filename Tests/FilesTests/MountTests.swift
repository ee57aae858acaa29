import PhotoModel
import Testing

@testable import Files

@Suite("A mount") struct MountTests {
    @Test func `is read from its line, whatever bytes it has and however many optional fields`() throws {
        // The shapes of proc(5) and of findmnt(8)'s own tests: no optional field, one, two.
        let plain = try #require(Mount(line: "36 35 98:0 / /mnt/card rw,noatime - ext4 /dev/sdb1 rw".utf8))
        #expect(plain.id == 36 && plain.device == "98:0" && plain.root == Path("/"))
        #expect(plain.point == Path("/mnt/card") && plain.type == "ext4" && plain.source == Path("/dev/sdb1"))
        let odd = try #require(
            Mount(
                line: #"7 35 0:51 /a\040b /mnt/my\040card\134\011x rw shared:1 master:2 - nfs4 nas:/my\040photos rw"#
                    .utf8))
        #expect(odd.root == Path("/a b"))
        #expect(odd.point == Path("/mnt/my card\\\tx"))
        #expect(odd.type == "nfs4" && odd.source == Path("nas:/my photos"))
        #expect(Mount(line: "36 35 98:0 / /mnt".utf8) == nil)
        #expect(Mount(line: "".utf8) == nil)
    }

    @Test(arguments: [
        ("nfs4", true), ("nfs", true), ("cifs", true), ("smb3", true), ("fuse.sshfs", true), ("fuse", true),
        ("9p", true), ("virtiofs", true), ("autofs", true), ("ext4", false), ("vfat", false), ("tmpfs", false),
        ("overlay", false), ("fusectl", false),
    ])
    func `of a share is known by its type`(type: String, isRemote: Bool) throws {
        let mount = try #require(Mount(line: "36 35 0:5 / /mnt rw - \(type) none rw".utf8))
        #expect(mount.isRemote == isRemote)
    }

    @Test func `of the root is there`() throws {
        let mounts = try Mounts().read()
        #expect(mounts.contains { $0.point == Path("/") })
        #expect(mounts.contains { $0.point == Path("/proc") && $0.type == "proc" })
    }

    @Test func `of a card is told from the next by the kernel's count of media`() throws {
        let root = try Folder(opening: Path("/")).status()
        let number = "\(root.stamp.device >> 8 & 0xfff):\(root.stamp.device & 0xff)"
        let entry = try Folder(opening: Path("/sys/dev/block"))
        guard (try? entry.status(of: Path(number))) != nil,
            let count = try? Folder(opening: Path("/sys/dev/block") / number).openForReading(Path("diskseq")).readAll(
                limit: 8192)
        else {
            print("skipped: the count of media (the root lies on no whole disk, or the kernel is older than 5.15)")
            return
        }
        let expected = String(decoding: count, as: UTF8.self).split(separator: "\n")[0]
        let medium = try FilesystemIdentity.medium(in: root.stamp.device)
        #expect(medium.hasSuffix("-\(expected)"))
        #expect(try medium == FilesystemIdentity.medium(in: root.stamp.device))
    }
}
