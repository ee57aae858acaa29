/// What the decoder found out about a file without making a picture of it.
package struct Inspection: Hashable, Sendable {
    /// By content, never by name.
    package var mediaType: MediaType
    /// Everything but the capture time, which ``CaptureDate/choose(from:name:modified:now:)`` chooses.
    package var facts: Facts
    /// Every time the file itself offers, plausible or not, as written there.
    package var dates: [CaptureDate]
    /// What a person may want to know: "the MakerNote is damaged". Never a reason to refuse a file.
    package var notes: [String]
    /// Its own structure promises more bytes than are there: it was cut, or has not come whole yet.
    package var endsEarly = false
    /// For the estimate of what decoding it takes.
    package var coding = PictureCoding()
    /// A picture with a video inside that belongs to it: a motion photo.
    package var holdsVideo = false

    package init(
        mediaType: MediaType = .unknown, facts: Facts = Facts(), dates: [CaptureDate] = [], notes: [String] = []
    ) {
        self.mediaType = mediaType
        self.facts = facts
        self.dates = dates
        self.notes = notes
    }
}
