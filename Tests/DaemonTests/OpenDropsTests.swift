import Foundation
import PhotoModel
import Testing

@testable import photospoold

@Suite("Drop folders that everybody may write to") struct OpenDropsTests {
    @Test func `are told of, but for those that do not answer, which nobody touches`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "photospool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) } }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        var drop = DropFolder(name: "card", path: Path(folder.path))
        drop.afterImport = .delete
        let drops = OpenDrops()
        drops.look(at: [drop], but: [])
        #expect(drops.problems.map(\.code) == [.dropOpen])
        drops.look(at: [drop], but: ["card"])
        #expect(drops.problems.isEmpty)
    }
}
