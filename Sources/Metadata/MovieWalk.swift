import PhotoModel

/// The first picture track of a movie: its size as shown, from `tkhd` (ISO/IEC 14496-12 section 8.3.2).
enum MovieWalk {
    static func size(_ source: ByteSource, _ top: [Box]) -> PixelSize? {
        guard let movie = top.first("moov") else { return nil }
        for track in movie.children(source) where track.type == "trak" {
            guard let header = track.children(source).first("tkhd"),
                let version = source.integer(at: header.start, width: 1)
            else { continue }
            // version and flags, times and duration (32 or 64 bits), reserved, layer, group, volume, reserved
            let matrix = header.start + (version == 1 ? 52 : 40)
            // 16.16 fixed point; the matrix's second column tells a quarter turn by being other than zero
            guard let turn = source.integer(at: matrix + 4, width: 4),
                let width = source.integer(at: matrix + 36, width: 4),
                let height = source.integer(at: matrix + 40, width: 4),
                let size = ExifFacts.size(width >> 16, height >> 16)
            else { continue }
            return turn == 0 ? size : PixelSize(width: size.height, height: size.width)
        }
        return nil
    }
}
