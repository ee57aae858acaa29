import CLinux

/// A file without a name, in memory: for handing bytes to another process or taking them; memfd_create(2).
/// - Parameter name: shown in /proc only.
package func memoryFile(_ name: String) throws(Errno) -> Descriptor {
    Descriptor(adopting: try retryingInterrupted { unsafe files_memory_file(name) })
}

extension Descriptor {
    /// From now on neither content nor size can change, by whoever holds it. Only for a ``memoryFile(_:)``.
    /// - Throws: ``Errno/busy`` while somebody has it mapped for writing.
    package func seal() throws(Errno) {
        try retryingInterrupted { files_seal(rawValue) }
    }

    /// Whether ``seal()`` was done, by us or by who made the file. False, too, for what cannot be sealed.
    package var isSealed: Bool { files_is_sealed(rawValue) == 1 }
}

/// Bytes nobody can guess, from the kernel; getrandom(2).
package func randomBytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
        // The kernel never cuts a request of up to 256 bytes short, nor fails it once it has been seeded.
        var piece = [UInt8](repeating: 0, count: min(256, count - bytes.count))
        let filled = unsafe files_random(&piece, piece.count)
        precondition(
            filled == piece.count || (filled < 0 && Errno.last == .interrupted), "getrandom(2) is always there")
        if filled > 0 { bytes += piece }
    }
    return bytes
}
