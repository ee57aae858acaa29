import CAVIF
import CHEIF

/// What this decoder was built and is installed to decode: the containers it knows are read by libraries, and two of
/// these need a further one for the pictures inside.
package enum DecodableFormats {
    package static var all: [(name: String, isThere: Bool)] {
        [
            ("JPEG", true), ("PNG", true), ("WebP", true), ("TIFF", true), ("GIF", true), ("JPEG XL", true),
            ("RAW", true),
            ("HEIC", heif_have_decoder_for_format(heif_compression_HEVC) != 0),
            (
                "AVIF",
                unsafe avifCodecName(AVIF_CODEC_CHOICE_AUTO, avifCodecFlags(AVIF_CODEC_FLAG_CAN_DECODE.rawValue)) != nil
            ),
        ]
    }
}
