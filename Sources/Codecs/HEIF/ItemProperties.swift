/// What the container says about its picture and libheif 1.15 has no call for: its type and how it is turned and cropped
/// (ISO/IEC 23008-12 and 14496-12). Knowing it, the turn costs nothing, and pictures that libheif cannot mirror come out as
/// well. The picture is the primary item; where that is tone mapped, the photo below it (see ``ToneMap``).
struct ItemProperties {
    /// Four-character code: `hvc1`, `grid`, ...
    var type: String
    /// How it is turned and cropped.
    var turns: Turns
    /// The same of the picture that says how opaque it is; nil where there is none.
    var alpha: Turns?

    /// What an item's properties turn and crop, and where in the file they are named.
    struct Turns {
        /// In the order they apply: that in which the item lists them (ISO/IEC 23008-12, 6.5.1).
        ///
        /// All of them, marked essential or not: MIAF (ISO/IEC 23000-22, 7.3.9) wants the mark, but encoders of phones
        /// forget it, and libheif, with which their makers test, does not ask for it.
        var all: [Transform] = []
        /// Those marked essential: the only ones that count in an AVIF, see ``AVIFDecoder``.
        var essential: [Transform] = []
        /// Take all of them from the item: property 0 is none (ISO/IEC 23008-12, 9.3.1).
        var edits: [ContainerEdit] = []
    }

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
        let photo = map?.photo ?? primary
        guard let turns = Self.properties(of: photo, iprp, in: file).flatMap({ Self.turns($0, in: file) }) else {
            return nil
        }
        self.type = map?.photoType ?? type
        self.turns = turns
        guard let iref = boxes.first(where: { $0.type == "iref" }) else { return }
        // No camera writes as many, and a file of nothing else cannot keep us busy.
        for item in Self.auxiliaries(of: photo, iref, in: file).prefix(64) {
            guard let own = Self.properties(of: item, iprp, in: file), Self.isAlpha(own, in: file) else { continue }
            alpha = Self.turns(own, in: file)
        }
    }

    private struct Property {
        var box: Box
        var association: Association
    }

    /// What `item` is associated with, in its order; nil when an index leads nowhere.
    private static func properties(of item: Int, _ iprp: Box, in file: FileBytes) -> [Property]? {
        let parts = children(of: iprp.body, in: file)
        guard let ipco = parts.first(where: { $0.type == "ipco" }) else { return nil }
        let boxes = children(of: ipco.body, in: file)
        var found: [Property] = []
        for ipma in parts where ipma.type == "ipma" {
            guard let associations = associations(of: item, ipma, in: file) else { return nil }
            for association in associations where association.index > 0 {
                guard association.index <= boxes.count else { return nil }
                found.append(Property(box: boxes[association.index - 1], association: association))
            }
        }
        return found
    }

    private static func turns(_ properties: [Property], in file: FileBytes) -> Turns? {
        var turns = Turns()
        for property in properties where ["irot", "imir", "clap"].contains(property.box.type) {
            guard let transform = transform(property.box, in: file) else { return nil }
            turns.all.append(transform)
            if property.association.isEssential { turns.essential.append(transform) }
            turns.edits += property.association.place.map { ContainerEdit(place: $0, byte: 0) }
        }
        return turns
    }

    /// Those that belong to `item` as its depth, its mattes, or how opaque it is.
    private static func auxiliaries(of item: Int, _ iref: Box, in file: FileBytes) -> [Int] {
        guard let version = file.byte(at: iref.body.lowerBound) else { return [] }
        let width = version == 0 ? 2 : 4
        return children(of: iref.body.dropFirst(4), in: file).compactMap { reference in
            let start = reference.body.lowerBound
            guard reference.type == "auxl", reference.body.count >= 2 * width + 2,
                file.number(at: start + width, width: 2) == 1, file.number(at: start + width + 2, width: width) == item
            else { return nil }
            return file.number(at: start, width: width)
        }
    }

    /// By the name that HEVC's, AVC's and MIAF's 'auxC' has for it.
    private static func isAlpha(_ properties: [Property], in file: FileBytes) -> Bool {
        guard let kind = properties.first(where: { $0.box.type == "auxC" })?.box.body.dropFirst(4) else { return false }
        return [
            "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:avc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
        ].contains { name in
            let end = kind.lowerBound + name.utf8.count + 1
            return end <= kind.upperBound
                && file.bytes(kind.lowerBound..<end)?.elementsEqual(Array(name.utf8) + [0]) == true
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
        /// Where in the file the index is.
        var place: Range<Int>
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
                return (0..<own).compactMap { number in
                    let place = offset + number * indexWidth
                    return file.number(at: place, width: indexWidth).map {
                        Association(
                            index: $0 & (essential - 1), isEssential: $0 & essential != 0,
                            place: place..<place + indexWidth)
                    }
                }
            }
            offset += own * indexWidth
        }
        return []
    }
}
