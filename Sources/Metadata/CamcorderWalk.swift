import PhotoModel

/// AVCHD (MTS, M2TS): the camcorder's own data in the H.264 stream, "MDPM" in an SEI message of unregistered user data,
/// as ExifTool documents it: pairs of a tag and four bytes.
enum CamcorderWalk {
    private static let packets = 2048

    static func add(_ source: ByteSource, to inspection: inout Inspection) {
        let stream = videoStart(source)
        inspection.facts.size = SequenceParameters.size(stream)
        let mark: [UInt8] = [
            0x17, 0xEE, 0x8C, 0x60, 0xF8, 0x4D, 0x11, 0xD9, 0x8C, 0xD6, 0x08, 0x00, 0x20, 0x0C, 0x9A, 0x66,
        ]
        guard let place = ByteSearch.position(of: mark + Array("MDPM".utf8), in: stream, from: 0) else { return }
        let content = withoutEscapes(stream[(place + 20)...].prefix(2048))
        guard let count = content.first else { return }
        var values: [UInt8: ArraySlice<UInt8>] = [:]
        for index in 0..<Int(count) {
            let at = 1 + index * 5
            guard at + 5 <= content.count else { break }
            values[content[at]] = content[at + 1..<at + 5]
        }
        addTime(values[0x18].map { Array($0) }, values[0x19].map { Array($0) }, to: &inspection)
        if let make = values[0xE0].map({ ByteSource.integer($0.prefix(2), bigEndian: true) }) {
            inspection.facts.make = [0x0103: "Panasonic", 0x0108: "Sony", 0x1011: "Canon", 0x1104: "JVC"][make]
        }
        if inspection.facts.make == "Sony" {
            let name = [0xE4, 0xE5, 0xE6].flatMap { values[$0].map { Array($0) } ?? [] }
            inspection.facts.model = FactText.clean(name.prefix { $0 != 0 })
        }
    }

    /// Zone, century, year, month; day, hour, minute, second, all but the zone as decimal digits.
    private static func addTime(_ first: [UInt8]?, _ second: [UInt8]?, to inspection: inout Inspection) {
        guard let first, let second else { return }
        let digits = (first.dropFirst() + second).map { byte -> Int in
            byte >> 4 > 9 || byte & 15 > 9 ? -1 : Int(byte >> 4) * 10 + Int(byte & 15)
        }
        guard digits.count == 7, !digits.contains(-1) else { return }
        let time = WallTime(
            year: digits[0] * 100 + digits[1], month: digits[2], day: digits[3], hour: digits[4], minute: digits[5],
            second: digits[6])
        guard time.isValid else { return }
        let offset =
            (first[0] & 0x20 != 0 ? "-" : "+") + padded(Int(first[0] >> 1 & 0x0F), 2)
            + (first[0] & 1 != 0 ? ":30" : ":00")
        inspection.dates.append(
            CaptureDate(time: time, offset: CaptureDate.normalized(offset: offset), source: .quicktime))
    }

    /// The first picture stream's bytes out of the packets (ISO/IEC 13818-1, 2.4.3): those of the first packets only.
    private static func videoStart(_ source: ByteSource) -> [UInt8] {
        let step: Int64 = source.bytes(at: 0, count: 1) == [0x47] ? 188 : 192
        var position = step - 188
        var stream: [UInt8] = []
        var wanted: Int?
        for _ in 0..<packets {
            let packet = source.bytes(at: position, count: 188)
            position += step
            guard packet.count == 188, packet[0] == 0x47 else { break }
            let number = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
            guard packet[3] & 0x10 != 0 else { continue }  // no payload
            let start = packet[3] & 0x20 != 0 ? 5 + Int(packet[4]) : 4
            guard start < 188 else { continue }
            var payload = packet[start...]
            if packet[1] & 0x40 != 0, payload.count > 9, payload.prefix(3).elementsEqual([0, 0, 1]) {
                guard (0xE0...0xEF).contains(payload[start + 3]) else { continue }
                wanted = wanted ?? number
                payload = payload.dropFirst(9 + Int(payload[start + 8]))
            }
            if number == wanted { stream += payload }
            if stream.count > 128 << 10 { break }
        }
        return stream
    }

    /// H.264 puts a 3 behind two zeros (ITU-T H.264, 7.4.1).
    static func withoutEscapes(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            plain.append(byte)
        }
        return plain
    }
}
