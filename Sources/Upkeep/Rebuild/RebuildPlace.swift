/// Where a rebuild goes on: behind the line of this id, of one of the three sorts, in their order.
enum RebuildPlace {
    case removals(after: Int64)
    case imports(Int64)
    case previews(after: Int64)

    init(_ cursor: String?) {
        let parts = (cursor ?? "").split(separator: "/")
        let id = parts.last.flatMap { Int64($0) } ?? 0
        switch (parts.count, parts.first) {
        case (1, _): self = .imports(id)
        case (2, "preview"): self = .previews(after: id)
        default: self = .removals(after: id)
        }
    }

    var text: String {
        switch self {
        case .removals(let id): "removal/\(id)"
        case .imports(let id): "\(id)"
        case .previews(let id): "preview/\(id)"
        }
    }
}
