import CHEIF
import Codecs
import DecoderHost
import Glibc

/// The decoder of stills.
@main struct Main {
    static func main() {
        let program = HostedDecoder(
            name: "photospool-decoder", libraryVersions: StillDecoder.libraryVersions,
            formats: {
                unsafe _ = heif_init(nil)
                return DecodableFormats.all
            },
            load: { () throws(CodecFailure) in
                unsafe _ = heif_init(nil)
                return try StillWork()
            })
        exit(program.run(Array(CommandLine.arguments.dropFirst())))
    }
}
