package import Codecs
import Glibc
package import PhotoModel

/// What a decoder is there for: pictures out of an open file.
package protocol DecoderWork {
    /// - Parameter input: open for reading; the file has `size` bytes, 1 or more.
    func preview(
        of input: Int32, size: Int64, type: MediaType, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> EncodedPreview
}

/// A decoder program as a whole: sandbox first, then decode; see `Sandbox.swift`. Started by the daemon only, with the
/// channel as descriptor 3.
package struct HostedDecoder {
    let name: String
    /// Of the libraries: another one may decode what this one could not.
    let libraryVersions: String
    let formats: () -> [(name: String, isThere: Bool)]
    /// Before the sandbox is entered.
    let load: () throws(CodecFailure) -> any DecoderWork

    package init(
        name: String, libraryVersions: String, formats: @escaping () -> [(name: String, isThere: Bool)],
        load: @escaping () throws(CodecFailure) -> any DecoderWork
    ) {
        self.name = name
        self.libraryVersions = libraryVersions
        self.formats = formats
        self.load = load
    }

    var fullVersion: String { "\(Release.version) (\(libraryVersions))" }

    /// - Returns: the exit status.
    package func run(_ arguments: [String]) -> Int32 {
        switch arguments.first {
        case nil: return DecoderService.hasChannel ? DecoderService.run(self) : refuse()
        case "--version":
            say("\(name) \(fullVersion)")
            return 0
        case "--formats" where arguments.count == 1:
            // One format a line, with `yes` or `no`: for `photospool doctor`.
            for format in formats() { say("\(format.name): \(format.isThere ? "yes" : "no")") }
            return 0
        case "--self-test" where arguments.count == 1: return SelfTest.run()
        case "--attempt" where arguments.count == 2: return SelfTest.attempt(arguments.last ?? "")
        default: return refuse()
        }
    }

    private func refuse() -> Int32 {
        say(
            "\(name) is started by photospoold. By hand it knows --self-test, --formats and --version.",
            to: STDERR_FILENO)
        return 64
    }
}

/// To a descriptor of our own; nobody is hurt when the other side does not listen.
func say(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
}
