import Codecs
import DecoderHost
import Glibc
import Movies
import PhotoModel

/// The decoder of movies: a program of its own, for FFmpeg's libraries and theirs are some 130 more.
@main struct Main {
    static func main() {
        let program = HostedDecoder(
            name: "photospool-decoder-av", libraryVersions: PosterDecoder.version,
            formats: { [("MOV", true), ("MP4", true), ("AVI", true), ("MTS", true), ("MKV", true)] },
            load: { () throws(CodecFailure) in try MovieWork() })
        exit(program.run(Array(CommandLine.arguments.dropFirst())))
    }
}

/// Movies are read in parts, from their descriptor.
struct MovieWork: DecoderWork {
    private let decoder: PosterDecoder

    init() throws(CodecFailure) { decoder = try PosterDecoder() }

    func preview(
        of input: Int32, size: Int64, type: MediaType, orientation: Int, spec: PreviewSpec
    ) throws(CodecFailure) -> EncodedPreview {
        defer { decoder.trim(to: StillDecoder.keptBuffer) }
        return try decoder.preview(of: input, size: size, type: type, spec: spec)
    }
}
