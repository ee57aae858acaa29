/// What the container says about its picture and libheif 1.15 has no call for: its type and how it is turned and cropped
/// (ISO/IEC 23008-12 and 14496-12). Knowing it, the turn costs nothing, and pictures that libheif cannot mirror come out as
/// well. The picture is the primary item; where that is tone mapped, the photo below it (see ``ToneMap``).
struct ItemProperties {
    /// Four-character code: `hvc1`, `grid`, ...
    var type: String
    /// In the order they apply.
    ///
    /// All of them, marked essential or not: MIAF (ISO/IEC 23000-22, 7.3.9) wants the mark, but encoders of phones forget
    /// it, and libheif, with which their makers test, does not ask for it.
    var transforms: [Transform]
    /// Those marked essential: the only ones that count in an AVIF, see ``AVIFDecoder``.
    var essentialTransforms: [Transform]

    /// nil when the boxes are not as they should be: then libheif has the word.
    init?(_ file: FileBytes) {
        guard let meta = Self.children(of: 0..<file.count, in: file).first(where: { $0.type == "meta" }) else {
            return nil
        }
        let boxes = Self.children(of: meta.body.dropFirst(4), in: file)
        guard let pitm = boxes.first(where: { $0.type == "pitm" }),
            let iinf = boxes.first(where: { $0.type == "iinf" }),
            let iprp = boxes.first(where: { $0.type == "iprp" }),
            let primary = Self.number(after: pitm, in: file),
            let type = Self.entry(of: primary, iinf, in: file)?.type
        else { return nil }
        let map = ToneMap(file)
        let parts = Self.children(of: iprp.body, in: file)
        guard let ipco = parts.first(where: { $0.type == "ipco" }) else { return nil }
        let properties = Self.children(of: ipco.body, in: file)
        self.type = map?.photoType ?? type
        transforms = []
        essentialTransforms = []
        for ipma in parts where ipma.type == "ipma" {
            guard let associations = Self.associations(of: map?.photo ?? primary, ipma, in: file) else { return nil }
            for association in associations where association.index > 0 {
                guard association.index <= properties.count else { return nil }
                let property = properties[association.index - 1]
                guard ["irot", "imir", "clap"].contains(property.type) else { continue }
                guard let transform = Self.transform(property, in: file) else { return nil }
                transforms.append(transform)
                if association.isEssential { essentialTransforms.append(transform) }
            }
        }
    }

    /// nil when the box is shorter than it must be.
    private static func transform(_ property: Box, in file: FileBytes) -> Transform? {
        let start = property.body.lowerBound
        guard property.body.count >= (property.type == "clap" ? 32 : 1), let first = file.byte(at: start) else {
            return nil
        }
        switch property.type {
        case "irot": return .rotation(first & 3)
        case "imir": return .mirror(first & 1)
        default:
            let numbers = (0..<8).compactMap { file.number(at: start + 4 * $0, width: 4) }
            return .crop(numbers.map { Int(Int32(truncatingIfNeeded: $0)) })
        }
    }

    struct Box {
        var type: String
        var body: Range<Int>
    }

    /// The boxes that lie whole within `range`; at most as many as any camera writes, so that a file of eight-byte
    /// boxes cannot keep us busy.
    static func children(of range: Range<Int>, in file: FileBytes) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while boxes.count < 16_384, offset <= range.upperBound - 8, let size = file.number(at: offset, width: 4),
            let name = file.bytes(offset + 4..<offset + 8)
        {
            var header = 8
            var length = size
            if size == 1 {
                guard let high = file.number(at: offset + 8, width: 4), high < 1 << 24,
                    let low = file.number(at: offset + 12, width: 4)
                else { break }
                header = 16
                length = high << 32 | low
            } else if size == 0 {
                length = range.upperBound - offset
            }
            guard length >= header, length <= range.upperBound - offset else { break }
            boxes.append(Box(type: String(decoding: name, as: UTF8.self), body: offset + header..<offset + length))
            offset += length
        }
        return boxes
    }

    /// The item id in 'pitm': 16 bits, from version 1 on 32.
    static func number(after box: Box, in file: FileBytes) -> Int? {
        guard let version = file.byte(at: box.body.lowerBound) else { return nil }
        let width = version == 0 ? 2 : 4
        guard box.body.count >= 4 + width else { return nil }
        return file.number(at: box.body.lowerBound + 4, width: width)
    }

    /// The type of an item, and where its entry (version 2 or 3) begins.
    static func entry(of item: Int, _ iinf: Box, in file: FileBytes) -> (type: String, start: Int)? {
        guard let version = file.byte(at: iinf.body.lowerBound) else { return nil }
        let entries = children(of: iinf.body.dropFirst(version == 0 ? 6 : 8), in: file)
        for entry in entries where entry.type == "infe" {
            let start = entry.body.lowerBound
            guard let version = file.byte(at: start), version == 2 || version == 3 else { continue }
            let width = version == 2 ? 2 : 4
            guard entry.body.count >= 4 + width + 6, file.number(at: start + 4, width: width) == item,
                let type = file.bytes(start + 4 + width + 2..<start + 4 + width + 6)
            else { continue }
            return (String(decoding: type, as: UTF8.self), start)
        }
        return nil
    }

    private struct Association {
        /// Into 'ipco', counted from 1.
        var index: Int
        var isEssential: Bool
    }

    /// Empty when the item has none here.
    private static func associations(of item: Int, _ ipma: Box, in file: FileBytes) -> [Association]? {
        let start = ipma.body.lowerBound
        guard let head = file.number(at: start, width: 4), let count = file.number(at: start + 4, width: 4) else {
            return nil
        }
        let idWidth = head >> 24 == 0 ? 2 : 4
        let indexWidth = head & 1 == 0 ? 1 : 2
        var offset = start + 8
        for _ in 0..<count {
            guard let id = file.number(at: offset, width: idWidth), let own = file.byte(at: offset + idWidth),
                offset + idWidth + 1 + own * indexWidth <= ipma.body.upperBound
            else { return nil }
            offset += idWidth + 1
            if id == item {
                let essential = indexWidth == 1 ? 0x80 : 0x8000
                return (0..<own).compactMap {
                    file.number(at: offset + $0 * indexWidth, width: indexWidth).map {
                        Association(index: $0 & (essential - 1), isEssential: $0 & essential != 0)
                    }
                }
            }
            offset += own * indexWidth
        }
        return []
    }
}
