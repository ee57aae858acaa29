/// The one of `names` a person most likely meant by `word`; nil when none is close.
///
/// Case, `-` and `_` do not count; otherwise at most a third of the letters may be added, left out, changed, or swapped
/// with their neighbour (restricted Damerau-Levenshtein distance).
package func nearestName(to word: String, among names: [String]) -> String? {
    let wanted = letters(of: word)
    guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
    let ranked = names.map { (name: $0, distance: distance(wanted, letters(of: $0))) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= max(1, wanted.count / 3) && best.distance < wanted.count ? best.name : nil
}

private func letters(of word: String) -> [Character] {
    Array(word.lowercased()).filter { $0 != "_" && $0 != "-" }
}

private func distance(_ left: [Character], _ right: [Character]) -> Int {
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in 0..<left.count {
        var next = [row + 1]
        for column in 0..<right.count {
            let same = left[row] == right[column]
            var cost = min(last[column] + (same ? 0 : 1), last[column + 1] + 1, next[column] + 1)
            if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                cost = min(cost, beforeLast[column - 1] + 1)
            }
            next.append(cost)
        }
        beforeLast = last
        last = next
    }
    return last[right.count]
}
