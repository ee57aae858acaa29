import PhotoModel

/// Whether a stem that is free by its names is free for a shot.
enum StemRule {
    /// Whether an asset of another moment has the stem already: `IMG_1.DNG` beside an `IMG_1.JPG` of another camera would be
    /// taken for a pair by everybody who looks at the library. What may be a pair, from two cards, shares its stem.
    ///
    /// - Parameters:
    ///   - date: of the shot that is to be named.
    ///   - others: the assets that have originals of that stem in that folder.
    static func isOfAnother(_ date: CaptureDate?, than others: [Asset]) -> Bool {
        guard let date, date.source.isOfFile else { return false }
        return others.contains { other in
            guard let known = other.facts.date, known.source.isOfFile else { return false }
            return !known.agrees(date)
        }
    }
}
