import Testing

/// One test after the other: some count what the process has open and who its children are.
@Suite("Decoders", .serialized) struct DecoderTests {}
