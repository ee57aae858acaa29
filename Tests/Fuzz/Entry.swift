import Glibc

/// What libFuzzer calls: https://llvm.org/docs/LibFuzzer.html. It brings `main`, so this program has none.
///
/// The parser is named by the environment, for libFuzzer takes every argument for its own.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafePointer<CChar>>>
) -> CInt {
    guard parser != nil else {
        print("PHOTOSPOOL_PARSER has to be one of: \(Parser.allCases.map(\.rawValue).joined(separator: " "))")
        exit(2)
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    parser?.read(bytes)
    return 0
}

private let parser: Parser? = unsafe getenv("PHOTOSPOOL_PARSER").flatMap {
    unsafe Parser(rawValue: String(cString: $0))
}
