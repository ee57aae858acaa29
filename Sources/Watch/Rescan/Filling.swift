import Files

/// Lets a read call fill a buffer, again while a signal interrupts it. errno is read before anything can change it.
func filling(_ buffer: inout [UInt8], _ call: (UnsafeMutableRawBufferPointer) -> Int) throws(Errno) -> Int {
    try retryingInterrupted { unsafe buffer.withUnsafeMutableBytes { bytes in unsafe call(bytes) } }
}
