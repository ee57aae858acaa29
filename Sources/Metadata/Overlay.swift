/// What libheif 1.15 does wrong with overlays (`iovl`): of a part that begins left of its canvas, or above it, it reads what
/// lies behind that part in memory, other photos too, and shows it.
package enum Overlay {
    /// Whether there is such a part in the file, HEIC or AVIF.
    package static func leavesCanvas(in source: ByteSource) -> Bool {
        HEIFWalk(source, isAVIF: false).leavesCanvas
    }
}
