/// A file whose picture is tone mapped: derived from a photo and its gain map, in this order (`tmap`; ISO/IEC 23008-12, ISO
/// 21496-1). The photo is what is shown, with its own turn, crop and colours. libheif 1.15 and libavif 0.11 know no such
/// item, and they show the primary one or none.
struct ToneMap {
    let photo: Int
    let photoType: String
    /// Make the photo the primary item, and not a hidden one, of which libheif finds none.
    let edits: [ContainerEdit]

    /// nil where the picture is of another kind, or nobody can tell what it is made of.
    init?(_ file: FileBytes) {
        guard let meta = ItemProperties.children(of: 0..<file.count, in: file).first(where: { $0.type == "meta" })
        else {
            return nil
        }
        let boxes = ItemProperties.children(of: meta.body.dropFirst(4), in: file)
        guard let pitm = boxes.first(where: { $0.type == "pitm" }),
            let iinf = boxes.first(where: { $0.type == "iinf" }),
            let iref = boxes.first(where: { $0.type == "iref" }),
            let primary = ItemProperties.number(after: pitm, in: file),
            ItemProperties.entry(of: primary, iinf, in: file)?.type == "tmap",
            let photo = Self.firstPart(of: primary, iref, in: file), photo != primary,
            let entry = ItemProperties.entry(of: photo, iinf, in: file), let flags = file.byte(at: entry.start + 3)
        else { return nil }
        let width = file.byte(at: pitm.body.lowerBound) == 0 ? 2 : 4
        guard width == 4 || photo <= 0xFFFF else { return nil }
        self.photo = photo
        photoType = entry.type
        edits =
            (0..<width).map {
                ContainerEdit(
                    place: pitm.body.lowerBound + 4 + $0,
                    byte: UInt8(truncatingIfNeeded: photo >> (8 * (width - 1 - $0))))
            } + [ContainerEdit(place: entry.start + 3, byte: UInt8(flags & 0xFE))]
    }

    private static func firstPart(of item: Int, _ iref: ItemProperties.Box, in file: FileBytes) -> Int? {
        guard let version = file.byte(at: iref.body.lowerBound) else { return nil }
        let width = version == 0 ? 2 : 4
        for reference in ItemProperties.children(of: iref.body.dropFirst(4), in: file) where reference.type == "dimg" {
            let start = reference.body.lowerBound
            guard reference.body.count >= 2 * width + 2, file.number(at: start, width: width) == item,
                let count = file.number(at: start + width, width: 2), count > 0
            else { continue }
            return file.number(at: start + width + 2, width: width)
        }
        return nil
    }
}
