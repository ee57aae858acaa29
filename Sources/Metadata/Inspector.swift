package import PhotoModel

/// Finds out what a file is and what it says about itself, without making a picture of it.
///
/// It throws nothing: whatever is damaged, missing or absurd is a fact that stays unknown. Every byte is read through
/// ``ByteSource``, and every step is checked by the language: the one unsafe call in this room is zlib's in `PNGText`.
package enum Inspector {
    package static func inspect(_ source: ByteSource) -> Inspection {
        var inspection = Inspection(mediaType: ContentType.of(source))
        switch inspection.mediaType {
        case .jpeg:
            let walk = JPEGWalk(source)
            inspection.coding = walk.coding
            add(walk.exif.first, [], to: &inspection)
            for further in walk.exif.dropFirst() { ExifFacts(further)?.add(to: &inspection) }
            add(nil, walk.xmp, to: &inspection)
            MotionPhoto.add(source, xmp: walk.xmp, to: &inspection)
            showUpright(walk.size, &inspection)
        case .heic, .heif, .avif:
            let walk = HEIFWalk(source, isAVIF: inspection.mediaType == .avif)
            inspection.coding = walk.coding
            add(walk.exif, walk.xmp, to: &inspection)
            inspection.facts.orientation = 1
            inspection.facts.size = walk.size
            inspection.endsEarly = walk.isCut
            MotionPhoto.add(source, xmp: walk.xmp, to: &inspection)
        case .png:
            let walk = ChunkWalk.png(source)
            inspection.coding = walk.coding
            add(walk.exif, walk.xmp, to: &inspection)
            showUpright(walk.size, &inspection)
        case .webp:
            let walk = ChunkWalk.webp(source)
            add(walk.exif, walk.xmp, to: &inspection)
            showUpright(walk.size, &inspection)
        case .tiff, .raw: inspectTIFF(source, &inspection)
        case .gif:
            inspection.facts.size = ExifFacts.size(
                source.integer(at: 6, width: 2, bigEndian: false), source.integer(at: 8, width: 2, bigEndian: false))
        case .quicktime, .mp4:
            let top = Box.all(in: source, from: 0, to: source.size)
            inspection.facts.size = MovieWalk.size(source, top)
            MovieKeys.add(source, top, to: &inspection)
            UserData.add(source, top, to: &inspection)
        case .jpegXL:
            let walk = JXLWalk(source)
            for block in walk.exif { add(block, [], to: &inspection) }
            add(nil, walk.xmp, to: &inspection)
            inspection.facts.orientation = 1
            inspection.facts.size = walk.size
        case .avi: AVIWalk.add(source, to: &inspection)
        case .mpegTS: CamcorderWalk.add(source, to: &inspection)
        case .xmp: XMPPacket.add(source.bytes(at: 0, count: XMPPacket.limit), to: &inspection)
        case .json: TakeoutFacts.add(source, to: &inspection)
        case .matroska: MatroskaWalk.add(source, to: &inspection)
        case .appleAdjustment, .audio, .unknown: break
        }
        if Completeness.endsEarly(source, inspection.mediaType) { inspection.endsEarly = true }
        return inspection
    }

    private static func add(_ block: TIFFBlock?, _ xmp: [UInt8], to inspection: inout Inspection) {
        if let block, let exif = ExifFacts(block) {
            exif.add(to: &inspection)
            inspection.facts.orientation = exif.orientation
        } else if block != nil {
            inspection.notes.append("The EXIF block holds no directory.")
        }
        if !xmp.isEmpty { XMPPacket.add(xmp, to: &inspection) }
    }

    private static func showUpright(_ stored: PixelSize?, _ inspection: inout Inspection) {
        inspection.facts.size = stored.map {
            inspection.facts.orientation >= 5 ? PixelSize(width: $0.height, height: $0.width) : $0
        }
    }

    private static func inspectTIFF(_ source: ByteSource, _ inspection: inout Inspection) {
        if source.has("HEAPCCDR", at: 6) { return inspectCIFF(source, &inspection) }
        var stated: PixelSize?
        var orientation: Int?
        let blocks = RAWWalk.blocks(source)
        for exif in blocks.compactMap({ ExifFacts($0) }) {
            exif.add(to: &inspection)
            orientation = orientation ?? exif.orientation
            stated = stated ?? exif.statedSize
        }
        inspection.facts.lens = inspection.facts.lens ?? RAWWalk.canonLens(source)
        inspection.facts.orientation = orientation ?? 1
        guard let block = blocks.first else { return }
        let pages = TIFFPages.all(of: block)
        if let packet = pages.first?.entries[0x2BC] {
            XMPPacket.add(block.bytes(packet, limit: XMPPacket.limit), to: &inspection)
        }
        if let sensor = pages.first, inspection.mediaType == .raw, stated == nil {
            stated = panasonicSize(block, sensor)
        }
        let sizes = pages.compactMap {
            ExifFacts.size(block.integer($0.entries[0x100]), block.integer($0.entries[0x101]))
        }
        // TIFF: one page is the picture. RAW: the largest is, the others are previews of it.
        let largest = sizes.max { $0.width * $0.height < $1.width * $1.height }
        guard inspection.mediaType == .tiff else { return showUpright(stated ?? largest, &inspection) }
        guard let page = TIFFPages.picture(of: block) else { return }
        if let depth = block.integer(page.entries[0x102]), depth > 8 {
            inspection.coding.sampleBytes = depth > 16 ? 4 : 2
        }
        // Its own orientation, where the thumbnail in front of it has another.
        let own = block.integer(page.entries[0x112]).map { (1...8).contains($0) ? Int($0) : 1 }
        inspection.facts.orientation = own ?? inspection.facts.orientation
        showUpright(
            ExifFacts.size(block.integer(page.entries[0x100]), block.integer(page.entries[0x101])), &inspection)
    }

    /// Its capture time counts as EXIF's: it is the camera's own, by another name.
    private static func inspectCIFF(_ source: ByteSource, _ inspection: inout Inspection) {
        let walk = CIFFWalk(source)
        inspection.facts.make = walk.make
        inspection.facts.model = walk.model
        inspection.facts.orientation = walk.orientation
        if let time = walk.time { inspection.dates.append(CaptureDate(time: time, source: .exifOriginal)) }
        showUpright(walk.size, &inspection)
    }

    /// RW2 tells the borders of the picture on the sensor: top, left, bottom, right.
    private static func panasonicSize(_ block: TIFFBlock, _ sensor: TIFFBlock.Directory) -> PixelSize? {
        let borders = [4, 5, 6, 7].compactMap { block.integer(sensor.entries[$0]) }
        guard borders.count == 4, borders[2] > borders[0], borders[3] > borders[1] else { return nil }
        return ExifFacts.size(borders[3] - borders[1], borders[2] - borders[0])
    }
}
