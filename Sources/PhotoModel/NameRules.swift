/// What the filesystem of a library takes for a name, beyond what every one takes.
package struct NameRules: Hashable, Sendable {
    /// Bytes, 64...255: NAME_MAX.
    package var longest: Int
    /// Whether it takes only what Windows does, as FAT and exFAT, and NTFS and shares of some making: none of
    /// `" * : < > ? \ |`, neither dot nor space at the end, no name of a device, and nothing that is not UTF-8.
    package var areThoseOfWindows: Bool

    package init(longest: Int = 255, areThoseOfWindows: Bool = false) {
        self.longest = longest
        self.areThoseOfWindows = areThoseOfWindows
    }

    private static let forbidden: Set<UInt8> = Set("\"*:<>?\\|".utf8)

    /// Names of devices, in any case and whatever extension follows: Linux' vfat refuses them, too.
    private static let devices = Set(
        ["aux", "con", "nul", "prn"] + (1...9).flatMap { ["com\($0)", "lpt\($0)"] })

    /// The bytes with `_` for what cannot be in a name here, and in front of what cannot be one.
    func placeable(_ bytes: [UInt8]) -> [UInt8] {
        guard areThoseOfWindows else { return bytes }
        let isText = String(validating: bytes, as: UTF8.self) != nil
        let base = String(decoding: bytes.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self).lowercased()
        return (Self.devices.contains(base) ? [UInt8(ascii: "_")] : [])
            + bytes.map { Self.forbidden.contains($0) || !isText && $0 >= 0x80 ? UInt8(ascii: "_") : $0 }
    }

    /// The bytes with `_` for each dot and space that they end in.
    func placeableEnd(_ bytes: [UInt8]) -> [UInt8] {
        guard areThoseOfWindows else { return bytes }
        let kept = bytes.reversed().drop { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: " ") }.count
        return bytes.prefix(kept) + [UInt8](repeating: UInt8(ascii: "_"), count: bytes.count - kept)
    }
}
