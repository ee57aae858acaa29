import PhotoModel
import Testing

/// A HEIC put together out of pictures that heif-enc coded: its boxes as ISO/IEC 23008-12 and 14496-12 have them, so that
/// grids, thumbnails and auxiliary pictures can be what no encoder here writes.
struct HEIC {
    enum Codec: CaseIterable {
        case hevc, av1

        var type: MediaType { self == .hevc ? .heic : .avif }
    }

    /// A picture as coded, and what its decoder has to know before.
    struct Coded {
        let configuration: [UInt8]
        let data: [UInt8]
        let width: Int
        let height: Int
        var codec = Codec.hevc

        /// By heif-enc, which reads grey and palettes wrongly: RGB, whatever the colours are; or by avifenc.
        init(_ card: Card, quality: Int = 95, codec: Codec = .hevc, in shop: Workshop) throws {
            try shop.put(card, "tile.ppm")
            try shop.run("convert @tile.ppm -define png:color-type=2 @tile.png")
            let file =
                switch codec {
                case .hevc: try shop.make("heif-enc -q \(quality) -p chroma=420 @tile.png -o @tile.heic")
                case .av1: try shop.make("avifenc -s 10 -y 420 --min 0 --max 10 @tile.png @tile.avif")
                }
            self.codec = codec
            configuration = try #require(HEIC.box(codec == .hevc ? "hvcC" : "av1C", in: file))
            data = Array(try #require(HEIC.box("mdat", in: file)).dropFirst(8))
            (width, height) = (card.width, card.height)
        }
    }

    struct Item {
        var id: Int
        var type = "hvc1"
        var data: [UInt8]
        var properties: [[UInt8]]
        var isHidden = false
    }

    var items: [Item]
    /// Kind, from, to.
    var references: [(String, Int, [Int])] = []
    /// Of the picture that counts.
    var primary = 1
    /// Whole boxes behind the properties.
    var further: [UInt8] = []

    static func item(_ id: Int, _ coded: Coded, _ more: [[UInt8]] = [], isHidden: Bool = false) -> Item {
        Item(
            id: id, type: coded.codec == .hevc ? "hvc1" : "av01", data: coded.data,
            properties: [coded.configuration, size(coded.width, coded.height)] + more, isHidden: isHidden)
    }

    /// A grid of the same tile over and over, cut to a size.
    init(_ tile: Coded, width: Int, height: Int) {
        let across = (width + tile.width - 1) / tile.width
        let down = (height + tile.height - 1) / tile.height
        let grid = [0, 0, UInt8(down - 1), UInt8(across - 1)] + Self.big(width, 2) + Self.big(height, 2)
        let tiles = 10..<10 + across * down
        items = [Item(id: 1, type: "grid", data: grid, properties: [Self.size(width, height)])]
        items += tiles.map { Self.item($0, tile, isHidden: true) }
        references = [("dimg", 1, Array(tiles))]
    }

    init(_ items: [Item]) { self.items = items }

    var bytes: [UInt8] {
        // Equal data are stored once.
        var blobs: [[UInt8]: Int] = [:]
        var content: [UInt8] = []
        for item in items where blobs[item.data] == nil {
            blobs[item.data] = content.count
            content += item.data
        }
        let brand = items.contains { $0.type == "av01" } ? "avif" : "heic"
        let type = Self.box("ftyp", Array("\(brand)\0\0\0\0mif1\(brand)".utf8))
        let before = type.count + meta(blobs, from: 0).count + 8
        return type + meta(blobs, from: before) + Self.box("mdat", content)
    }

    private func meta(_ blobs: [[UInt8]: Int], from start: Int) -> [UInt8] {
        var properties: [[UInt8]: Int] = [:]
        var container: [UInt8] = []
        var associations = Self.big(items.count, 4)
        for item in items {
            associations += Self.big(item.id, 2) + [UInt8(item.properties.count)]
            for property in item.properties {
                if properties[property] == nil {
                    properties[property] = properties.count + 1
                    container += property
                }
                // A decoder must know all but the size.
                let isEssential = !property[4..<8].elementsEqual("ispe".utf8)
                associations.append(UInt8(properties[property] ?? 0) | (isEssential ? 0x80 : 0))
            }
        }
        var (infos, places, links): ([UInt8], [UInt8], [UInt8]) = ([], [], [])
        for item in items {
            let name = Self.big(item.id, 2) + [0, 0] + Array(item.type.utf8) + [0]
            infos += Self.full("infe", version: 2, flags: item.isHidden ? 1 : 0, name)
            places += Self.big(item.id, 2) + [0, 0, 0, 1]
            places += Self.big(start + (blobs[item.data] ?? 0), 4) + Self.big(item.data.count, 4)
        }
        for (kind, from, to) in references {
            var content = Self.big(from, 2) + Self.big(to.count, 2)
            for item in to { content += Self.big(item, 2) }
            links += Self.box(kind, content)
        }
        var boxes = Self.full("hdlr", [0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
        boxes += Self.full("pitm", Self.big(primary, 2))
        boxes += Self.full("iloc", [0x44, 0] + Self.big(items.count, 2) + places)
        boxes += Self.full("iinf", Self.big(items.count, 2) + infos)
        if !links.isEmpty { boxes += Self.full("iref", links) }
        boxes += Self.box("iprp", Self.box("ipco", container) + Self.full("ipma", associations))
        return Self.full("meta", boxes + further)
    }

    // MARK: Boxes

    static func big(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big(8 + content.count, 4) + Array(type.utf8) + content
    }

    static func full(_ type: String, version: UInt8 = 0, flags: Int = 0, _ content: [UInt8]) -> [UInt8] {
        box(type, [version] + big(flags, 3) + content)
    }

    static func size(_ width: Int, _ height: Int) -> [UInt8] { full("ispe", big(width, 4) + big(height, 4)) }

    /// A quarter of a turn, against the clock, so many times.
    static func rotation(_ times: UInt8) -> [UInt8] { box("irot", [times]) }

    /// 0: top and bottom change places; 1: left and right do.
    static func mirror(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }

    /// A part of this size, so far from the middle.
    static func crop(_ width: Int, _ height: Int, right: Int, down: Int) -> [UInt8] {
        box("clap", [width, height, right, down].flatMap { big($0, 4) + big(1, 4) })
    }

    /// What an auxiliary picture is, by its URN.
    static func auxiliary(_ kind: String) -> [UInt8] { full("auxC", Array(kind.utf8) + [0]) }

    /// The first box of a type, wherever it lies, with its header.
    private static func box(_ type: String, in file: [UInt8]) -> [UInt8]? {
        guard let at = file.indices.first(where: { $0 >= 4 && file[$0...].starts(with: type.utf8) }) else { return nil }
        let length = file[at - 4..<at].reduce(0) { $0 << 8 | Int($1) }
        guard length >= 8, at - 4 + length <= file.count else { return nil }
        return Array(file[at - 4..<at - 4 + length])
    }
}
