/// A byte of a container that is another one in the copy that a library gets, so that it reads what it otherwise would not.
struct ContainerEdit {
    let place: Int
    let byte: UInt8

    /// The file itself, where nothing is to be changed; else a copy, good until the buffer is used again.
    static func apply(
        _ edits: [ContainerEdit], to file: FileBytes, in buffer: PlaneBuffer
    ) throws(CodecFailure) -> FileBytes {
        guard !edits.isEmpty else { return file }
        let copy = try unsafe buffer.reserve(file.count)
        let target = unsafe UnsafeMutableRawBufferPointer(start: copy, count: file.count)
        unsafe target.copyMemory(from: file.memory)
        for edit in edits { unsafe target[edit.place] = edit.byte }
        return unsafe FileBytes(lending: UnsafeRawBufferPointer(target))
    }
}
