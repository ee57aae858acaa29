import DecoderWire
import Files
import Glibc
import PhotoModel

/// Stands in for photospool-decoder in tests, and does what the file says that it is handed: the first word of the file is
/// the name of a misdeed. As a real one it speaks over descriptor 3; unlike a real one it is not locked in.
@main struct Main {
    static func main() {
        // Stopped without a word, should a test forget it.
        alarm(120)
        if CommandLine.arguments.contains("refuse") {
            exit(Misdeeds().refuse())
        }
        exit(Misdeeds().serve())
    }
}
