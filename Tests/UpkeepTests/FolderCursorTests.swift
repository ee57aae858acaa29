import PhotoModel
import Testing

@testable import Upkeep

@Suite("A folder as a place to go on from") struct FolderCursorTests {
    @Test func `comes before what is below it, and stays what it was as text`() throws {
        let paths = [
            Path(bytes: []), Path("2019"), Path("2019/a"), Path("2019/a/b"), Path("2019/b"), Path("2019-trip"),
            Path(bytes: [0x32, 0xff, 0x0a]), Path("z"),
        ]
        for (position, path) in paths.enumerated() {
            let cursor = try #require(FolderCursor(text: FolderCursor(path).text))
            #expect(cursor.text == FolderCursor(path).text)
            for (other, before) in paths.enumerated() {
                #expect(cursor.isBehind(FolderCursor(before)) == (other < position), "\(path.shown) \(before.shown)")
            }
        }
    }

    @Test(arguments: ["", "1", "zz", "1/7", "originals-read"])
    func `is refused when it is none`(text: String) { #expect(FolderCursor(text: text) == nil) }
}
