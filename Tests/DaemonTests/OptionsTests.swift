import PhotoModel
import Testing

@testable import photospoold

@Suite("The command line of the daemon") struct OptionsTests {
    private func options(_ words: String...) throws -> Options { try Options(words) }

    @Test func `runs with the usual places when nothing is said`() throws {
        let options = try options()
        #expect(options.act == .run)
        #expect(options.configuration == nil)
        #expect(options.stateDirectory == nil)
        #expect(!options.isOnce)
    }

    @Test func `takes values behind a space or an equals sign`() throws {
        #expect(try options("--config", "/etc/p.toml").configuration == Path("/etc/p.toml"))
        #expect(try options("--config=/etc/p.toml").configuration == Path("/etc/p.toml"))
        #expect(try options("--config=/a=b").configuration == Path("/a=b"))
        #expect(try options("--state-dir", "state", "--once").stateDirectory == Path("state"))
        #expect(try options("--state-dir", "state", "--once").isOnce)
    }

    @Test func `knows its acts`() throws {
        #expect(try options("--check-config").act == .checkConfiguration)
        #expect(try options("--version").act == .showVersion)
        #expect(try options("--help").act == .showHelp)
        #expect(try options("-h").act == .showHelp)
    }

    @Test(arguments: [
        ["--unknown"], ["--once=yes"], ["--version="], ["--config"], ["--config="], ["--config", ""], ["--state-dir"],
        ["file.jpg"], ["-x"], [""], ["--"],
    ])
    func `refuses what it does not know, and what lacks its value`(words: [String]) {
        #expect(throws: Options.Fault.self) { try Options(words) }
    }

    @Test func `names the argument it refuses in a form fit for a terminal`() {
        do {
            _ = try Options(["--\u{1B}[31mred\n"])
            Issue.record("accepted")
        } catch {
            #expect(error.sentence.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        }
    }
}
