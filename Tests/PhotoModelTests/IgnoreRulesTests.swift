import PhotoModel
import Testing

@Suite("Ignored names") struct IgnoreRulesTests {
    @Test(arguments: [
        ".hidden", "._IMG_1.JPG", ".DS_Store", ".AppleDouble", ".Trashes", ".Spotlight-V100", ".fseventsd",
        "System Volume Information", "SYSTEM VOLUME INFORMATION", "$RECYCLE.BIN", "$Recycle.Bin", "Thumbs.db",
        "THUMBS.DB",
        "desktop.ini", "@eaDir", "#recycle", "#snapshot", "lost+found", ".thumbnails", ".stfolder", ".stversions",
        "~syncthing~A.jpg", ".syncthing.A.jpg.tmp", "A.jpg.part", "A.JPG.PART", "A.partial", "A.filepart",
        "A.crdownload", "A.download", "A.tmp", "A.temp", ".goutputstream-X1Y2Z3", ".IMG_1.JPG.a1B2c3", "IMG_1.JPG~",
        ".photospool",
    ])
    func `are these without being asked for`(name: String) {
        #expect(IgnoreRules().ignores(Path(name), in: Path(""), isFolder: false))
        #expect(IgnoreRules().ignores(Path(name), in: Path("deep/folder"), isFolder: true))
    }

    @Test(arguments: [
        "IMG_1.JPG", "part", "IMG_part.jpg", "tmp", "a.tmp.jpg", "Thumbs.db.jpg", "System Volume", "lost", "~A.jpg",
        "DCIM", "100CANON", "download", "#1.jpg", "@home.jpg", "$5.jpg", "a.b", "A.parting",
    ])
    func `are not these`(name: String) {
        #expect(!IgnoreRules().ignores(Path(name), in: Path(""), isFolder: false))
    }

    @Test func `are added by globs and taken back by globs that follow`() {
        let rules = IgnoreRules(["*.png", "raw/**", "!raw/keep.cr2", "cache/", "!.wanted", "!*.tmp", "keep.tmp"])
        func ignores(_ path: String, isFolder: Bool = false) -> Bool {
            rules.ignores(Path(path).name, in: Path(path).parent, isFolder: isFolder)
        }
        #expect(ignores("a.png"))
        #expect(ignores("deep/A.PNG"))
        #expect(ignores("raw/a.cr2"))
        #expect(!ignores("raw/keep.cr2"))
        #expect(!ignores("other/raw/a.cr2"))
        #expect(ignores("cache", isFolder: true))
        #expect(ignores("deep/cache", isFolder: true))
        #expect(!ignores("cache"))
        #expect(!ignores(".wanted", isFolder: true))
        #expect(ignores(".unwanted", isFolder: true))
        #expect(!ignores("a.tmp"))
        #expect(ignores("keep.tmp"))
    }

    @Test func `are the daemon's own folders, whatever a glob says`() {
        var drop = DropFolder(name: "card", path: Path("/srv/drop"))
        drop.moveTo = Path("/srv/drop/done/here")
        drop.ignore = ["!*", "!done/**"]
        let rules = IgnoreRules(for: drop)
        #expect(rules.ignores(Path(".photospool"), in: Path(""), isFolder: true))
        #expect(rules.ignores(Path("here"), in: Path("done"), isFolder: true))
        #expect(!rules.ignores(Path("here"), in: Path(""), isFolder: true))
        #expect(!rules.ignores(Path("done"), in: Path(""), isFolder: true))
        drop.moveTo = Path("/elsewhere/here")
        #expect(!IgnoreRules(for: drop).ignores(Path("here"), in: Path("done"), isFolder: true))
    }

    @Test func `say which of them passes a name over`() {
        var drop = DropFolder(name: "card", path: Path("/drop/card"))
        drop.ignore = ["*.bak", "raw/", "!keep.bak", "keep*", "!.well-known"]
        let rules = IgnoreRules(for: drop)
        let expected: [(String, Bool, IgnoreRules.Rule?)] = [
            ("a.jpg", false, nil), ("a.bak", false, .pattern("*.bak")), ("raw", true, .pattern("raw/")),
            ("raw", false, nil), ("keep.bak", false, .pattern("keep*")), (".hidden", false, .builtIn),
            (".well-known", true, nil), (".photospool", true, .own), (".imported", true, .moveTo),
            ("x.tmp", false, .builtIn),
        ]
        for (name, isFolder, rule) in expected {
            #expect(rules.rule(for: Path(name), in: Path(""), isFolder: isFolder) == rule, "\(name)")
            #expect(rules.ignores(Path(name), in: Path(""), isFolder: isFolder) == (rule != nil), "\(name)")
        }
    }

    @Test(arguments: [
        ("*.jpg", "A.JPG", true), ("*.jpg", "a.jpg.txt", false), ("*", "", true), ("?", "a", true), ("?", "ab", false),
        ("a*b*c", "axxbyyc", true), ("a*b*c", "axxbyy", false), ("[a-c]x", "Bx", true), ("[!a-c]x", "bx", false),
        ("[!a-c]x", "dx", true), ("[]]", "]", true), ("[a-]", "-", true), ("\\*", "*", true), ("\\*", "a", false),
        ("a/*.jpg", "a/b.jpg", true), ("a/*.jpg", "a/b/c.jpg", false), ("a/**.jpg", "a/b/c.jpg", true),
        ("**/x.jpg", "x.jpg", true), ("**/x.jpg", "a/b/x.jpg", true), ("a/**/x.jpg", "a/x.jpg", true),
        ("a/**/x.jpg", "a/b/c/x.jpg", true), ("**/x.jpg", "a/yx.jpg", false), ("/x.jpg", "x.jpg", true),
        ("/x.jpg", "a/x.jpg", false), ("x.jpg", "a/x.jpg", true), ("a/b", "xa/b", false),
    ])
    func `are matched by globs as in gitignore`(pattern: String, path: String, matches: Bool) throws {
        let glob = try #require(Glob(pattern))
        #expect(glob.matches(name: Path(path).name, path: Path(path), isFolder: false) == matches)
    }

    @Test(arguments: ["", "/", "[a", "[", "a["]) func `need a pattern that can be read`(pattern: String) {
        #expect(Glob(pattern) == nil)
    }

    @Test func `cost little however many stars a pattern has`() throws {
        let glob = try #require(Glob(String(repeating: "*a", count: 100) + "b"))
        let name = Path(String(repeating: "a", count: 255))
        #expect(!glob.matches(name: name, path: name, isFolder: false))
    }

    @Test func `may hold any bytes`() throws {
        let glob = try #require(Glob("*.jpg"))
        let name = Path(bytes: [0xFF, 0x0A, 0x80] + Array(".jpg".utf8))
        #expect(glob.matches(name: name, path: name, isFolder: false))
    }
}
