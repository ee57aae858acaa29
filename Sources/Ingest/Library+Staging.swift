import Files
package import PhotoModel

/// Where what is not finished lies: beside nothing else, and on the filesystem on which it will stay.
///
/// Previews may lie on another filesystem than originals: a disk of their own, or a folder with a quota. Then they are staged
/// there, for a name is given by a rename. What they lack of room is theirs alone: originals are imported without.
extension Library {
    /// The folder in which an import stages its preview. It may have to be made.
    func previewStaging(of importID: String) -> Path {
        hasPreviewsElsewhere ? LibraryLayout.previewStaging(of: importID) : LibraryLayout.staging(of: importID)
    }

    /// Whether a preview could be written, as far as a look can tell.
    package var hasRoomForPreviews: Bool {
        do throws(Errno) {
            return try root.folder(at: LibraryLayout.previews).filesystem().availableBytes >= 256 << 10
        } catch { return true }  // nobody knows: whoever tries finds out
    }

    /// Removes all that an import has staged; nothing there is fine.
    func removeStaging(of importID: String) throws(Errno) {
        try root.removeTree(LibraryLayout.staging(of: importID))
        guard hasPreviewsElsewhere else { return }
        // Trouble with a disk of previews is to hold up nothing else; the sweep finds what is left there.
        do throws(Errno) { try removePreviewStaging(of: importID) } catch _ {}
    }

    /// Nothing removes a tree through a mount: so the folder behind it is opened first.
    func removePreviewStaging(of importID: String) throws(Errno) {
        do throws(Errno) {
            try root.folder(at: LibraryLayout.previewStaging).removeTree(Path(importID))
        } catch .noEntry {}  // there never was one
    }

    /// Whether a rename from staging to the previews crosses from one filesystem to another, or did so in a life before.
    static func hasPreviewsElsewhere(in root: borrowing Folder) throws(Errno) -> Bool {
        let (previews, staging) = (LibraryLayout.previews, LibraryLayout.staging)
        if try root.status(of: previews).stamp.device != root.status(of: staging).stamp.device { return true }
        return try root.contains(LibraryLayout.previewStaging)
    }
}

extension Problem {
    /// Whether it may be the trouble of one filesystem or folder, and another beside it can be written.
    var isOfOnePlace: Bool { [.libraryFull, .libraryIO, .libraryPermission].contains(code) }

    /// Whether it may be the trouble of a disk that has nothing but previews.
    var isOfOneDisk: Bool { isOfOnePlace || [.libraryOffline, .staleHandle].contains(code) }

    /// The same, of a preview whose original is safe.
    package var ofPreview: Problem {
        Problem(
            // The library as a whole is there, or its original would not be.
            [.libraryOffline, .staleHandle].contains(code) ? .libraryIO : code, whatHappened,
            todo: code == .libraryFull
                ? "Free space where the previews lie; the preview is then made by itself."
                : "Look after the place where the previews lie; the preview is then made by itself.")
    }
}
