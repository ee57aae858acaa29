package enum DecoderWireRoom {}
