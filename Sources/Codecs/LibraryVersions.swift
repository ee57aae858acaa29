import CAVIF
import CHEIF
import CLCMS
import CRaw
import CSPNG

extension StillDecoder {
    /// The decoding libraries as they are loaded, `libheif 1.15.1, libavif 0.11.1 …`. libjpeg-turbo does not say its own.
    package static var libraryVersions: String {
        var codecs = [CChar](repeating: 0, count: 256)  // as long as avif.h has it
        unsafe avifCodecVersions(&codecs)
        let decoders = String(decoding: codecs.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let versions = unsafe [
            "libheif " + String(cString: heif_get_version()),
            "libavif " + String(cString: avifVersion()) + " " + decoders,
            "libspng " + String(cString: spng_version_string()), "lcms2 \(cmsGetEncodedCMMversion())",
            "libraw " + String(cString: libraw_version()),
        ]
        return versions.joined(separator: ", ")
    }
}
