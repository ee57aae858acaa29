/// What libheif 1.15 does wrong with overlays (`iovl`): of a part that begins left of its canvas, or above it, it reads what
/// lies behind that part in memory, other photos too, and shows it.
package enum Overlay {
    /// Whether there is such a part in a HEIC or AVIF that speaks of overlays; or may be, for the file is too odd to tell.
    package static func mayLeaveCanvas(in source: ByteSource) -> Bool {
        HEIFWalk(source, isAVIF: false).mayLeaveCanvas
    }
}
