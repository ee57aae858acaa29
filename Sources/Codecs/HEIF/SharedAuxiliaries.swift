/// Files of newer phones in which one auxiliary picture (a gain map, a matte) belongs to several others, as to the photo
/// and to what is tone mapped from it. The standard allows it (ISO/IEC 14496-12, 8.11.12); libheif before 1.18 reads
/// nothing at all of such a file.
enum SharedAuxiliaries {
    /// Where the names of such references stand; empty when there are none.
    static func places(in file: FileBytes) -> [Int] {
        guard let meta = ItemProperties.children(of: 0..<file.count, in: file).first(where: { $0.type == "meta" }),
            let references = ItemProperties.children(of: meta.body.dropFirst(4), in: file)
                .first(where: { $0.type == "iref" }), let version = file.byte(at: references.body.lowerBound)
        else { return [] }
        let width = version == 0 ? 2 : 4
        return ItemProperties.children(of: references.body.dropFirst(4), in: file).compactMap { reference in
            guard reference.type == "auxl",
                let count = file.number(at: reference.body.lowerBound + width, width: 2), count > 1
            else { return nil }
            return reference.body.lowerBound - 4
        }
    }

    /// A copy in which these references have a name that nobody knows: the pictures stay, and belong to none. What is lost
    /// is transparency that several pictures share, which no camera makes.
    static func withoutThem(_ file: FileBytes, at places: [Int], in buffer: PlaneBuffer) throws(CodecFailure)
        -> FileBytes
    {
        let copy = try unsafe buffer.reserve(file.count)
        let target = unsafe UnsafeMutableRawBufferPointer(start: copy, count: file.count)
        unsafe target.copyMemory(from: file.memory)
        for place in places { unsafe target[place] = UInt8(ascii: "x") }
        return unsafe FileBytes(lending: UnsafeRawBufferPointer(target))
    }
}
