package import PhotoModel

/// What the mirror has got since the last look at sources, so that a look need not ask for each of all that wait.
package enum MirrorNews: Sendable {
    /// Originals of these.
    case of(Set<Asset.ID>)
    /// Nobody knows; everything that waits is to be looked at.
    case all

    /// More than these are everything.
    private static let most = 10_000

    package mutating func add(_ news: MirrorNews) {
        guard case .of(let known) = self, case .of(let more) = news, known.count < Self.most else {
            self = .all
            return
        }
        self = .of(known.union(more))
    }

    /// Whose sources to look for; nil for everything.
    var assets: [Asset.ID?] {
        switch self {
        case .of(let assets): assets.sorted()
        case .all: [nil]
        }
    }
}
