import PhotoModel

/// The items of a HEIF or AVIF file (ISO/IEC 23008-12): its EXIF and XMP, and the size as shown once the container has
/// cropped and turned the picture. EXIF's own orientation does not count there.
///
/// In AVIF a crop or turn counts only when it is marked essential, as MIAF demands (ISO/IEC 23000-22, 7.3.9) and the
/// decoders of browsers have it. In HEIC it always counts: encoders of phones forget the mark, and libheif never asks.
struct HEIFWalk {
    private(set) var exif: TIFFBlock?
    private(set) var xmp: [UInt8] = []
    private(set) var size: PixelSize?
    /// Of the primary picture, before it is cropped and turned.
    private(set) var coding = PictureCoding()
    /// A part of an overlay begins left of its canvas or above it; or one may, for not all could be read.
    private(set) var mayLeaveCanvas = true
    private var hasAllLocations = false
    /// An item's bytes lie beyond the end of the file.
    private(set) var isCut = false
    private let source: ByteSource
    private let isAVIF: Bool
    private static let itemLimit = 4 << 20

    init(_ source: ByteSource, isAVIF: Bool) {
        self.source = source
        self.isAVIF = isAVIF
        let top = Box.all(in: source, from: 0, to: source.size)
        guard let meta = top.first("meta")?.children(source, after: 4) else {
            size = MovieWalk.size(source, top)
            return
        }
        let locations = locations(meta.first("iloc"), data: meta.first("idat"))
        let list = meta.first("iinf")
        let items = items(list)
        var overlays = 0
        for item in items {
            guard let extents = locations[item.id] else {
                if item.type == "iovl" { overlays += 1 }
                continue
            }
            if item.type == "Exif", exif == nil { exif = exifBlock(extents) }
            if item.type == "mime", xmp.isEmpty { xmp = gather(extents, limit: XMPPacket.limit) }
            if item.type == "iovl", Self.leavesCanvas(gather(extents, limit: 1 << 16)) { overlays += 1 }
        }
        // Of what was not read box by box nobody knows, nor which of two would count.
        let isWhole = hasAllLocations && [top, meta, entries(list)].allSatisfy { $0.count < Box.most }
        mayLeaveCanvas = overlays > 0 || !isWhole || top.filter { $0.type == "meta" }.count > 1
        if let primary = primaryItem(meta.first("pitm")) {
            let isToneMapped = items.contains { $0.id == primary && $0.type == "tmap" }
            let photo = isToneMapped ? firstPart(of: primary, meta.first("iref")) : nil
            size = shownSize(photo ?? primary, meta.first("iprp"))
        }
    }

    /// What is tone mapped (`tmap`; ISO 21496-1) is made of the photo and a gain map, in this order, and shown as the photo.
    private func firstPart(of item: UInt64, _ box: Box?) -> UInt64? {
        guard let box, let version = source.integer(at: box.start, width: 1) else { return nil }
        let width = version == 0 ? 2 : 4
        for reference in box.children(source, after: 4) where reference.type == "dimg" {
            guard source.integer(at: reference.start, width: width) == item,
                let count = source.integer(at: reference.start + Int64(width), width: 2), count > 0,
                let part = source.integer(at: reference.start + Int64(width) + 2, width: width), part != item
            else { continue }
            return part
        }
        return nil
    }

    /// Version, flags, four numbers of 16 bits for the canvas' colour, its size, and where each part lies on it; these have
    /// 32 bits each by the first flag, else 16 (ISO/IEC 23008-12, 6.6.2).
    private static func leavesCanvas(_ overlay: [UInt8]) -> Bool {
        guard overlay.count > 2, overlay.count < 1 << 16 else { return true }  // of what is longer nobody knows
        let width = overlay[1] & 1 == 0 ? 2 : 4
        return stride(from: 10 + 2 * width, to: overlay.count, by: width).contains { overlay[$0] & 0x80 != 0 }
    }

    private func primaryItem(_ box: Box?) -> UInt64? {
        guard let box, let version = source.integer(at: box.start, width: 1) else { return nil }
        return source.integer(at: box.start + 4, width: version == 0 ? 2 : 4)
    }

    private func entries(_ box: Box?) -> [Box] {
        guard let box, let version = source.integer(at: box.start, width: 1) else { return [] }
        return box.children(source, after: version == 0 ? 6 : 8)
    }

    private func items(_ box: Box?) -> [(id: UInt64, type: String)] {
        entries(box).compactMap { entry in
            guard entry.type == "infe", let version = source.integer(at: entry.start, width: 1), version >= 2 else {
                return nil
            }
            let width = version == 2 ? 2 : 4
            guard let id = source.integer(at: entry.start + 4, width: width) else { return nil }
            return (id, source.fourCharacters(at: entry.start + 4 + Int64(width) + 2))
        }
    }

    private typealias Extent = (start: Int64, length: Int64)

    private mutating func locations(_ box: Box?, data: Box?) -> [UInt64: [Extent]] {
        guard let box, let version = source.integer(at: box.start, width: 1),
            let sizes = source.integer(at: box.start + 4, width: 2)
        else { return [:] }
        let widths = (
            offset: Int(sizes >> 12 & 15), length: Int(sizes >> 8 & 15), base: Int(sizes >> 4 & 15),
            index: version == 0 ? 0 : Int(sizes & 15)
        )
        var position = box.start + 6
        func number(_ width: Int) -> UInt64? {
            guard width > 0 else { return 0 }
            guard width <= 8, position + Int64(width) <= box.end else { return nil }
            defer { position += Int64(width) }
            return source.integer(at: position, width: width)
        }
        var found: [UInt64: [Extent]] = [:]
        var extentCount: UInt64 = 0
        guard let count = number(version < 2 ? 2 : 4), count <= 65_536 else { return [:] }
        for _ in 0..<count {
            guard let id = number(version < 2 ? 2 : 4), let method = version == 0 ? 0 : number(2),
                number(2) != nil, let base = number(widths.base), let extents = number(2)
            else { return found }
            extentCount += extents
            guard extentCount <= 65_536 else { return found }  // extents of width 0 take no bytes, only time
            for _ in 0..<extents {
                guard number(widths.index) != nil, let offset = number(widths.offset),
                    let length = number(widths.length)
                else { return found }
                let origin: Int64? = method & 15 == 0 ? 0 : method & 15 == 1 ? data?.start : nil
                guard let origin, let start = Int64(exactly: base &+ offset), let length = Int64(exactly: length),
                    start >= 0
                else { continue }
                let (end, overflow) = (origin + min(start, source.size)).addingReportingOverflow(length)
                if overflow || start > source.size || end > source.size { isCut = true }
                guard start <= source.size else { continue }
                found[id, default: []].append((origin + start, length))
            }
        }
        hasAllLocations = true
        return found
    }

    private func gather(_ extents: [Extent], limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for extent in extents where bytes.count < limit {
            bytes += source.bytes(at: extent.start, count: Int(min(extent.length, Int64(limit - bytes.count))))
        }
        return bytes
    }

    /// The item starts with how far behind these four bytes the TIFF header lies.
    private func exifBlock(_ extents: [Extent]) -> TIFFBlock? {
        let bytes = gather(extents, limit: HEIFWalk.itemLimit)
        guard bytes.count > 4 else { return nil }
        let skipped = Int64(ByteSource.integer(bytes[0..<4], bigEndian: true)) + 4
        let content = ByteSource(bytes)
        let length = Int64(bytes.count)
        // Writers get the first four bytes wrong; then the header is looked for where it usually is.
        for start in [skipped, 10, 4, 6, 0] where start < length {
            if let block = TIFFBlock(content, at: start, length: length - start) { return block }
        }
        return nil
    }

    private mutating func shownSize(_ item: UInt64, _ properties: Box?) -> PixelSize? {
        guard let children = properties?.children(source), let container = children.first("ipco") else { return nil }
        let all = container.children(source)
        var size: PixelSize?
        for (index, isEssential) in children.filter({ $0.type == "ipma" }).flatMap({ associations($0, of: item) }) {
            guard index >= 1, index <= all.count else { continue }
            let property = all[index - 1]
            switch property.type {
            case "clap" where isAVIF && !isEssential, "irot" where isAVIF && !isEssential: break
            case "ispe":
                size = ExifFacts.size(
                    source.integer(at: property.start + 4, width: 4), source.integer(at: property.start + 8, width: 4))
                coding.stored = size
            case "pixi":
                // The bits of each channel (ISO/IEC 23008-12, 6.5.6).
                if let depth = source.integer(at: property.start + 5, width: 1), depth > 8 { coding.sampleBytes = 2 }
            case "clap": size = cropped(size, property) ?? size
            case "irot":
                guard let turns = source.integer(at: property.start, width: 1), turns & 1 == 1, let now = size else {
                    continue
                }
                size = PixelSize(width: now.height, height: now.width)
            default: break
            }
        }
        return size
    }

    private func associations(_ box: Box, of item: UInt64) -> [(index: Int, isEssential: Bool)] {
        guard let version = source.integer(at: box.start, width: 1),
            let flags = source.integer(at: box.start + 1, width: 3),
            let count = source.integer(at: box.start + 4, width: 4)
        else { return [] }
        let width = flags & 1 == 1 ? 2 : 1
        let idWidth = version == 0 ? 2 : 4
        var position = box.start + 8
        for _ in 0..<count {
            guard position < box.end, let id = source.integer(at: position, width: idWidth),
                let number = source.integer(at: position + Int64(idWidth), width: 1)
            else { return [] }
            position += Int64(idWidth) + 1
            if id == item {
                let essential: UInt64 = width == 2 ? 0x8000 : 0x80
                return (0..<Int64(number)).compactMap {
                    source.integer(at: position + $0 * Int64(width), width: width).map {
                        (Int($0 & (essential - 1)), $0 & essential != 0)
                    }
                }
            }
            position += Int64(number) * Int64(width)
        }
        return []
    }

    private func cropped(_ size: PixelSize?, _ box: Box) -> PixelSize? {
        let fields = (0..<4).map { source.integer(at: box.start + Int64($0) * 4, width: 4) ?? 0 }
        guard let size, fields[1] > 0, fields[3] > 0 else { return nil }
        let width = fields[0] / fields[1]
        let height = fields[2] / fields[3]
        guard width <= size.width, height <= size.height else { return nil }
        return ExifFacts.size(width, height)
    }
}
