package import PhotoModel

extension Folder {
    /// Copies a file into this folder: under an unfinished name, durable, read back from the medium and equal, and then
    /// under its own, which has to be free. Whoever dies in it leaves at most the unfinished one.
    /// - Throws: ``CopyFailure/destination(_:)`` with ``Errno/exists`` rather than write over something, with
    ///   ``Errno/io`` when the medium holds other bytes.
    package func keepCopy(
        of source: borrowing Descriptor, as name: Path, unfinished: Path, mode: UInt32
    ) throws(CopyFailure) {
        let file: StagedFile
        let size: Int64
        do throws(Errno) { size = try source.status().stamp.size } catch { throw .source(error) }
        do throws(Errno) { file = try create(unfinished, mode: mode) } catch { throw .destination(error) }
        do throws(CopyFailure) {
            let content = try copy(from: source, to: file, size: size)
            do throws(Errno) { try file.synchronize() } catch { throw CopyFailure.destination(error) }
            guard try readBack(file.descriptor) == content else { throw .destination(.io) }
            do throws(Errno) {
                try renameNoReplace(unfinished, to: name, in: self)
                try sync()
            } catch { throw CopyFailure.destination(error) }
        } catch {
            do throws(Errno) { try unlink(unfinished) } catch _ {}  // the copy's own failure is the one to tell
            throw error
        }
    }
}
