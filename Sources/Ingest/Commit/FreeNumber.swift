import PhotoModel

/// The number by which a name becomes free: 0 for the plain one, n for the nth other.
///
/// Names of one template are taken in their order, so what is free is searched by steps that double, and then between the
/// last that was taken and the first that was not. A photo whose name ten thousand others have costs some thirty looks, and
/// not ten thousand. Where some in between are free again it may be one of those, or a later one.
enum FreeNumber {
    /// A library of more files of one name than this has other troubles.
    static let most = 1 << 30
    /// The first ones are tried in turn: there most searches end.
    private static let inTurn = 4

    /// - Parameters:
    ///   - start: the first that may be taken.
    ///   - isFree: looks; only the rename decides.
    /// - Returns: a number that is free and whose predecessor, down to `start`, is not; nil when none was found.
    static func first(
        from start: Int = 0, isFree: (Int) throws(Problem) -> Bool
    ) throws(Problem) -> Int? {
        for number in start..<start + inTurn where try isFree(number) { return number }
        var taken = start + inTurn - 1
        var step = inTurn
        while taken + step <= most, try !isFree(taken + step) {
            taken += step
            step *= 2
        }
        guard taken + step <= most else { return nil }
        var free = taken + step
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2
            if try isFree(middle) { free = middle } else { taken = middle }
        }
        return free
    }
}
