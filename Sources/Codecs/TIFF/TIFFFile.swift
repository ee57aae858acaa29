import CTIFF
import PhotoModel

/// One reading of a TIFF by libtiff, out of memory.
///
/// Safe: the handle is closed with its owner, which does not outlive the file's bytes; what libtiff hands out by pointer
/// is copied at once. Every buffer has the size that libtiff itself states for what goes into it.
@safe struct TIFFFile: ~Copyable {
    private let memory: UnsafeMutablePointer<shim_tiff>
    let handle: OpaquePointer
    private let count: Int

    /// No more is taken at once for what the file states of itself; planes are ours and not meant.
    private static let largestPart: tmsize_t = 512 << 20
    /// Some of libtiff's parts know only the handlers of the whole process, which print.
    private static let isQuiet: Bool = {
        unsafe _ = TIFFSetErrorHandler(nil)
        unsafe _ = TIFFSetWarningHandler(nil)
        return true
    }()

    init(_ file: FileBytes) throws(CodecFailure) {
        precondition(Self.isQuiet)
        count = file.count
        let memory = UnsafeMutablePointer<shim_tiff>.allocate(capacity: 1)
        unsafe memory.initialize(to: shim_tiff())
        unsafe memory.pointee.base = unsafe file.memory.bindMemory(to: UInt8.self).baseAddress
        unsafe memory.pointee.size = UInt64(file.count)
        guard let handle = unsafe shim_tiff_open(memory, Self.largestPart) else {
            let text = unsafe Self.text(memory)
            unsafe memory.deallocate()
            throw Self.firstDirectoryIsMissing(file)
                ? CodecFailure(.truncated, "the TIFF ends before its directory")
                : CodecFailure(.corrupt, "the TIFF's directory makes no sense: \(text)")
        }
        unsafe self.memory = unsafe memory
        unsafe self.handle = unsafe handle
        choosePage()
    }

    deinit {
        unsafe TIFFClose(handle)
        unsafe memory.deallocate()
    }

    /// The first page that is the picture and no smaller copy or mask of it (NewSubfileType, TIFF 6.0 page 36).
    private func choosePage() {
        for _ in 0..<64 {
            if (number32(UInt32(TIFFTAG_SUBFILETYPE)) ?? 0) & UInt32(FILETYPE_REDUCEDIMAGE | FILETYPE_MASK) == 0 {
                return
            }
            guard unsafe TIFFReadDirectory(handle) != 0 else { break }
        }
        unsafe _ = TIFFSetDirectory(handle, 0)
    }

    private static func firstDirectoryIsMissing(_ file: FileBytes) -> Bool {
        guard let offset = file.bytes(4..<8), let order = file.byte(at: 0), file.byte(at: 2) != 43,
            file.byte(at: 3) != 43
        else { return file.count < 8 }
        let place = (order == 0x49 ? offset.reversed() : offset).reduce(0) { $0 << 8 | Int($1) }
        return place + 2 > file.count
    }

    func number16(_ tag: Int32) -> Int? {
        var value = UInt16(0)
        return unsafe shim_tiff_get16(handle, UInt32(tag), &value) != 0 ? Int(value) : nil
    }

    func number32(_ tag: UInt32) -> UInt32? {
        var value = UInt32(0)
        return unsafe shim_tiff_get32(handle, tag, &value) != 0 ? value : nil
    }

    /// Kinds of the samples behind the colours: 0 unknown, 1 alpha that is multiplied in, 2 alpha that is not.
    var extras: [Int] {
        var count = UInt16(0)
        var kinds: UnsafeMutablePointer<UInt16>?
        guard unsafe shim_tiff_extras(handle, &count, &kinds) != 0, let kinds = unsafe kinds else { return [] }
        return (0..<Int(count)).map { unsafe Int(kinds[$0]) }
    }

    var space: ColourSpace {
        var count = UInt32(0)
        var bytes: UnsafeMutableRawPointer?
        guard unsafe shim_tiff_bytes(handle, UInt32(TIFFTAG_ICCPROFILE), &count, &bytes) != 0, let bytes = unsafe bytes
        else { return .unspecified }
        guard (1...ProfileCheck.largest).contains(Int(count)) else { return .lostProfile }
        return .profile(unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(count))))
    }

    /// Red, green and blue of each number, 8 bits. Tables of 8 bits in the field of 16 exist, as libtiff knows, too.
    func palette(bits: Int) -> [UInt8]? {
        var (red, green, blue):
            (UnsafeMutablePointer<UInt16>?, UnsafeMutablePointer<UInt16>?, UnsafeMutablePointer<UInt16>?)
        unsafe (red, green, blue) = (nil, nil, nil)
        guard unsafe shim_tiff_map_of_colours(handle, &red, &green, &blue) != 0, let red = unsafe red,
            let green = unsafe green, let blue = unsafe blue
        else { return nil }
        let values = (0..<1 << bits).flatMap { unsafe [red[$0], green[$0], blue[$0]] }
        let isWide = values.contains { $0 > 255 }
        return values.map { UInt8(truncatingIfNeeded: isWide ? $0 >> 8 : $0) }
    }

    /// Whether a strip or tile of the picture lies behind the end of the file.
    var endsEarly: Bool {
        let parts = unsafe TIFFIsTiled(handle) != 0 ? TIFFNumberOfTiles(handle) : TIFFNumberOfStrips(handle)
        guard parts > 0 else { return false }
        // The last one written usually is the last one numbered.
        return [0, parts - 1].contains { part in
            let start = unsafe TIFFGetStrileOffset(handle, part)
            let (end, overflow) = start.addingReportingOverflow(unsafe TIFFGetStrileByteCount(handle, part))
            return overflow || end > UInt64(count)
        }
    }

    /// Where the first strip or tile lies in the file; empty when that makes no sense.
    var firstPart: Range<Int> {
        guard let start = unsafe Int(exactly: TIFFGetStrileOffset(handle, 0)),
            let length = unsafe Int(exactly: TIFFGetStrileByteCount(handle, 0)), start < 1 << 40, length < 1 << 40
        else { return 0..<0 }
        return start..<start + length
    }

    /// What libtiff complained of first; it may quote the file.
    var complaint: String { unsafe Self.text(memory) }

    private static func text(_ memory: UnsafeMutablePointer<shim_tiff>) -> String {
        let text = unsafe withUnsafeBytes(of: &memory.pointee.message) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        return text.isEmpty ? "no reason given" : SafeText.of(text, limit: 200)
    }
}
