import Glibc
import PhotoModel
import Testing

@testable import Files

@Suite("A rename that replaces nothing") struct RenamingTests {
    /// The kernel's own rename, and filesystems that have none.
    enum Way: CaseIterable, Sendable {
        case live, asNFS, asOldKernel, asFUSE

        var calls: RenameCalls {
            let refusal: Int32
            switch self {
            case .live: return .live
            case .asNFS: refusal = EINVAL
            case .asOldKernel: refusal = ENOSYS
            case .asFUSE: refusal = EOPNOTSUPP
            }
            return unsafe RenameCalls(
                rename: { _ in
                    errno = refusal
                    return -1
                }, link: RenameCalls.live.link)
        }
    }

    @Test(arguments: Way.allCases)
    func `moves the same inode to a free name in another folder`(way: Way) throws {
        let place = try TemporaryFolder()
        try place.folder.makeFolders(at: Path("staging"), mode: 0o700)
        try place.folder.makeFolders(at: Path("library/2026"), mode: 0o700)
        try place.write("photo", to: Path("staging/0"))
        let before = try place.folder.status(of: Path("staging/0"))
        let staging = try place.folder.folder(at: Path("staging"))
        let library = try place.folder.folder(at: Path("library"))

        try staging.renameNoReplace(Path("0"), to: Path("2026/IMG_1.JPG"), in: library, calls: way.calls)

        let after = try library.status(of: Path("2026/IMG_1.JPG"))
        #expect(after.isSameFile(as: before))
        #expect(after.linkCount == 1)
        #expect(try place.names(at: Path("staging")) == [])
    }

    @Test(arguments: Way.allCases)
    func `leaves both as they are when the name is taken`(way: Way) throws {
        let place = try TemporaryFolder()
        try place.write("new", to: Path("new"))
        try place.write("old", to: Path("taken"))
        try place.link("link", to: "nowhere")
        for taken in ["taken", "link"] {
            #expect(throws: Errno.exists) {
                try place.folder.renameNoReplace(Path("new"), to: Path(taken), in: place.folder, calls: way.calls)
            }
        }
        #expect(try place.read(Path("new")) == Array("new".utf8))
        #expect(try place.read(Path("taken")) == Array("old".utf8))
        #expect(try place.names() == ["new", "taken", "link"])
    }

    @Test(arguments: Way.allCases)
    func `finishes what ended between link and unlink`(way: Way) throws {
        let place = try TemporaryFolder()
        try place.write("photo", to: Path("staged"))
        try retryingInterrupted {
            unsafe linkat(place.folder.descriptor.rawValue, "staged", place.folder.descriptor.rawValue, "final", 0)
        }
        try place.folder.renameNoReplace(Path("staged"), to: Path("final"), in: place.folder, calls: way.calls)
        #expect(try place.names() == ["final"])
        #expect(try place.read(Path("final")) == Array("photo".utf8))
    }

    @Test func `says so when a filesystem has neither way`() throws {
        let place = try TemporaryFolder()
        try place.write("photo", to: Path("staged"))
        let calls = unsafe RenameCalls(
            rename: { _ in
                errno = EINVAL
                return -1
            },
            link: { _ in
                errno = EPERM
                return -1
            })
        #expect(throws: Errno.notPermitted) {
            try place.folder.renameNoReplace(Path("staged"), to: Path("final"), in: place.folder, calls: calls)
        }
        #expect(try place.names() == ["staged"])
    }

    @Test func `says that nothing is there to rename`() throws {
        let place = try TemporaryFolder()
        #expect(throws: Errno.noEntry) {
            try place.folder.renameNoReplace(Path("absent"), to: Path("final"), in: place.folder)
        }
        try place.write("taken", to: Path("final"))
        #expect(throws: Errno.noEntry) {
            try place.folder.renameNoReplace(Path("absent"), to: Path("final"), in: place.folder)
        }
    }

    @Test func `lets one of many win a name, and nobody lose a file`() async throws {
        let place = try TemporaryFolder()
        for number in 0..<16 { try place.write("\(number)", to: Path("from-\(number)")) }
        let path = place.path
        let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask { try Self.wins(number, in: path) }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(winners == 1)
        #expect(try place.names().count == 16)
    }

    private static func wins(_ number: Int, in path: Path) throws(Errno) -> Bool {
        let calls = number.isMultiple(of: 2) ? Way.live.calls : Way.asNFS.calls
        let folder = try Folder(opening: path)
        do throws(Errno) {
            try folder.renameNoReplace(Path("from-\(number)"), to: Path("name"), in: folder, calls: calls)
        } catch {
            guard error == .exists else { throw error }
            return false
        }
        return true
    }
}
