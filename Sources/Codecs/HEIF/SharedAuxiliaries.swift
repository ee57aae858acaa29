/// Files of newer phones in which one auxiliary picture (a gain map, a matte) belongs to several others, as to the photo
/// and to what is tone mapped from it. The standard allows it (ISO/IEC 14496-12, 8.11.12); libheif before 1.18 reads
/// nothing at all of such a file.
enum SharedAuxiliaries {
    /// Gives these references a name that nobody knows: the pictures stay, and belong to none. What is lost is transparency
    /// that several pictures share, which no camera makes.
    static func edits(in file: FileBytes) -> [ContainerEdit] {
        guard let meta = ItemProperties.children(of: 0..<file.count, in: file).first(where: { $0.type == "meta" }),
            let references = ItemProperties.children(of: meta.body.dropFirst(4), in: file)
                .first(where: { $0.type == "iref" }), let version = file.byte(at: references.body.lowerBound)
        else { return [] }
        let width = version == 0 ? 2 : 4
        return ItemProperties.children(of: references.body.dropFirst(4), in: file).compactMap { reference in
            guard reference.type == "auxl",
                let count = file.number(at: reference.body.lowerBound + width, width: 2), count > 1
            else { return nil }
            return ContainerEdit(place: reference.body.lowerBound - 4, byte: UInt8(ascii: "x"))
        }
    }
}
