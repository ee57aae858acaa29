extension CaptureDate {
    /// Clocks and containers round: a RAW and its JPEG, or the halves of a Live Photo, differ by so many seconds at most.
    package static let tolerance: Int64 = 2

    /// Whether both can be of one shot: as the clocks showed it, or, where both say how far from Greenwich they were, as it
    /// was there.
    ///
    /// Of a movie that tells only UTC the zone was assumed, and some cameras write the wall clock's time there. So it also
    /// agrees when what it wrote is the other's wall time, or, where the other has no offset, is it but for a zone: whole
    /// quarters of an hour, as all zones are.
    package func agrees(_ other: CaptureDate) -> Bool {
        let gap = time.secondsAsUTC - other.time.secondsAsUTC
        let (own, theirs) = (shift, other.shift)
        // Of a zone that was assumed the clock says nothing where the other knows its own.
        let isGuess = isZoneAssumed && theirs != nil || other.isZoneAssumed && own != nil
        if abs(gap) <= Self.tolerance, !isGuess || isZoneAssumed == other.isZoneAssumed { return true }
        if let own, let theirs, abs(gap - own + theirs) <= Self.tolerance { return true }
        return isOfAnotherZone(than: other) || other.isOfAnotherZone(than: self)
    }

    private var shift: Int64? { offset.flatMap(CaptureDate.seconds(ofOffset:)).map(Int64.init) }

    private func isOfAnotherZone(than other: CaptureDate) -> Bool {
        guard isZoneAssumed, !other.isZoneAssumed, let shift else { return false }
        let gap = time.secondsAsUTC - shift - other.time.secondsAsUTC
        if abs(gap) <= Self.tolerance { return true }
        let rest = abs(gap) % 900
        return other.offset == nil && abs(gap) <= 15 * 3600 && min(rest, 900 - rest) <= Self.tolerance
    }
}
