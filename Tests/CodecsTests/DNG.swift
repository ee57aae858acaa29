/// Makes small DNGs for tests (DNG 1.4): a true Bayer mosaic of a card in linear light, 16 bits, RGGB, with or without a
/// preview beside it.
struct DNG {
    /// As the sensor saw it, before ``orientation`` turns it.
    var card: Card
    var orientation = 1
    /// A JPEG in the first directory.
    var preview: [UInt8] = []
    /// Red, green and blue bytes in the first directory, 8 x 8.
    var bitmap: [UInt8] = []
    /// Without its version a DNG is any camera's RAW file that is built as a TIFF.
    var hasVersion = true
    /// PreviewColorSpace of the preview (DNG 1.4, 50970).
    var previewColours: Int?

    private func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    /// sRGB's curve undone, to 256...4095 as the tags say.
    private static let linear: [Int] = (0...255).map { code in
        let value = Double(code) / 255
        let light = value <= 0.04045 ? value / 12.92 : power((value + 0.055) / 1.055)
        return 256 + Int((light * (4095 - 256)).rounded())
    }

    /// To the power of 2.4 = 2 + 2/5, by Newton's fifth root.
    private static func power(_ base: Double) -> Double {
        var root = 1.0
        for _ in 0..<60 { root -= (root * root * root * root * root - base) / (5 * root * root * root * root) }
        return base * base * root * root
    }

    private var mosaic: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * card.width * card.height)
        for y in 0..<card.height {
            for x in 0..<card.width {
                let (red, green, blue) = card[x, y]
                bytes += number(
                    Self.linear[y % 2 == 0 && x % 2 == 0 ? red : y % 2 == 1 && x % 2 == 1 ? blue : green], 2)
            }
        }
        return bytes
    }

    var bytes: [UInt8] {
        let sensor = mosaic
        var (subPlace, previewPlace, sensorPlace) = (0, 0, 0)
        var file: [UInt8] = []
        for _ in 0..<2 {  // the second time the places are known
            var main: [(Int, Int, [Int])] = [
                (0xFE, 4, [1]), (0x103, 3, [7]), (0x112, 3, [orientation]), (0x14A, 4, [subPlace]),
                (0xC612, 1, [1, 4, 0, 0]), (0xC613, 1, [1, 1, 0, 0]),
                // XYZ to camera: the camera sees sRGB itself, in white light of D65.
                (0xC621, 10, [32406, -15372, -4986, -9689, 18758, 415, 557, -2040, 10570]),
                (0xC628, 5, [1, 1, 1]), (0xC65A, 3, [21]),
                (0x10F, 2, Array("Test".utf8).map { Int($0) } + [0]),
                (0x110, 2, Array("Card".utf8).map { Int($0) } + [0]),
                (0xC614, 2, Array("Test Card".utf8).map { Int($0) } + [0]),
            ]
            if !hasVersion { main = main.filter { ![0xC612, 0xC613].contains($0.0) } }
            if let previewColours { main.append((0xC71A, 4, [previewColours])) }
            if !preview.isEmpty { main += [(0x106, 3, [6]), (0x111, 4, [previewPlace]), (0x117, 4, [preview.count])] }
            if !bitmap.isEmpty {
                main = main.filter { $0.0 != 0x103 }
                main += [
                    (0x100, 4, [8]), (0x101, 4, [8]), (0x102, 3, [8, 8, 8]), (0x103, 3, [1]), (0x106, 3, [2]),
                    (0x111, 4, [previewPlace]), (0x115, 3, [3]), (0x117, 4, [bitmap.count]),
                ]
            }
            file = Array("II".utf8) + number(42, 2) + number(8, 4)
            file += directory(main, at: 8)
            subPlace = file.count
            file += directory(
                [
                    (0xFE, 4, [0]), (0x100, 4, [card.width]), (0x101, 4, [card.height]), (0x102, 3, [16]),
                    (0x103, 3, [1]), (0x106, 3, [32803]), (0x111, 4, [sensorPlace]), (0x115, 3, [1]),
                    (0x116, 4, [card.height]), (0x117, 4, [sensor.count]), (0x828D, 3, [2, 2]),
                    (0x828E, 1, [0, 1, 1, 2]), (0xC61A, 3, [256]), (0xC61D, 4, [4095]), (0xC617, 3, [1]),
                ], at: subPlace)
            previewPlace = file.count
            file += preview + bitmap
            if file.count % 2 == 1 { file.append(0) }
            sensorPlace = file.count
            file += sensor
        }
        return file
    }

    private func directory(_ tags: [(Int, Int, [Int])], at place: Int) -> [UInt8] {
        var table = number(tags.count, 2)
        var far: [UInt8] = []
        let farPlace = place + 2 + tags.count * 12 + 4
        for (tag, type, values) in tags.sorted(by: { $0.0 < $1.0 }) {
            let width = [1: 1, 2: 1, 3: 2, 4: 4][type] ?? 4
            var content = values.flatMap { number($0, width) }
            if type == 5 || type == 10 {
                content = values.flatMap { number($0, 4) + number(type == 5 ? 1 : 10_000, 4) }
            }
            table += number(tag, 2) + number(type, 2) + number(values.count, 4)
            if content.count <= 4 {
                table += content + [UInt8](repeating: 0, count: 4 - content.count)
            } else {
                table += number(farPlace + far.count, 4)
                far += content
                if far.count % 2 == 1 { far.append(0) }
            }
        }
        return table + number(0, 4) + far
    }
}
