import CExpat

/// What an XML text is made of, as it is read: elements open and close, with text in them.
protocol XMLListener: AnyObject {
    /// Names as they are written, with their prefixes.
    func open(_ name: String, attributes: [(name: String, value: String)])
    func close()
    func text(_ part: [UInt8])
}

/// Reads XML by expat. A text that is damaged is read up to there; one that brings a document type is not read on, for with
/// it come entities, which a few bytes can make to gigabytes, and XMP has none (XMP specification part 1, 7.3).
///
/// Safe: the handle lives as long as this object, and what expat lends is copied before its call returns.
@safe struct XMLReader: ~Copyable {
    private let parser: XML_Parser
    private let state = State()

    /// Safe: both are set while the reader that owns it lives.
    @safe private final class State {
        var listener: (any XMLListener)?
        var parser: XML_Parser?
    }

    /// nil without memory.
    init?() {
        guard let parser = unsafe XML_ParserCreate("UTF-8") else { return nil }
        unsafe self.parser = unsafe parser
        unsafe state.parser = unsafe parser
    }

    deinit { unsafe XML_ParserFree(parser) }

    /// - Parameter text: UTF-8, whatever its declaration says.
    consuming func read(_ text: [UInt8], to listener: any XMLListener) {
        state.listener = listener
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(state).toOpaque())
        unsafe XML_SetElementHandler(
            parser,
            { user, name, attributes in
                guard let listener = unsafe XMLReader.state(user)?.listener, let name = unsafe name else { return }
                var pairs: [(name: String, value: String)] = []
                var next = unsafe attributes
                while let at = unsafe next, let name = unsafe at[0], let value = unsafe at[1] {
                    unsafe pairs.append((String(cString: name), String(cString: value)))
                    unsafe next = unsafe at + 2
                }
                unsafe listener.open(String(cString: name), attributes: pairs)
            },
            { user, _ in unsafe XMLReader.state(user)?.listener?.close() })
        unsafe XML_SetCharacterDataHandler(parser) { user, text, count in
            guard let text = unsafe text, count > 0 else { return }
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(count))
            unsafe XMLReader.state(user)?.listener?.text(Array(bytes))
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { user, _, _, _, _ in
            guard let parser = unsafe XMLReader.state(user)?.parser else { return }
            unsafe XML_StopParser(parser, 0)
        }
        unsafe text.withUnsafeBytes { text in
            // Whether it was whole is no matter here: what was read of it has been told.
            _ = unsafe XML_Parse(
                parser, text.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: text.count), 1)
        }
        state.listener = nil
    }

    private static func state(_ user: UnsafeMutableRawPointer?) -> State? {
        unsafe user.map { unsafe Unmanaged<State>.fromOpaque($0).takeUnretainedValue() }
    }
}
