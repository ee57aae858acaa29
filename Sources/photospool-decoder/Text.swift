import CHEIF
import Codecs
import Files
import Glibc

/// To a descriptor of our own; nobody is hurt when the other side does not listen.
func say(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    let bytes = Array((text + "\n").utf8)
    _ = unsafe write(descriptor, bytes, bytes.count)
}

func printVersion() -> Int32 {
    say("photospool-decoder \(DecoderService.version)")
    return 0
}

/// One format a line, with `yes` or `no`: for `photospool doctor`.
func printFormats() -> Int32 {
    unsafe _ = heif_init(nil)
    for format in DecodableFormats.all { say("\(format.name): \(format.isThere ? "yes" : "no")") }
    return 0
}

func refuse() -> Int32 {
    say(
        "photospool-decoder is started by photospoold. By hand it knows --self-test, --formats and --version.",
        to: STDERR_FILENO)
    return 64
}
