import Files
package import Ingest
package import PhotoModel
import Store

/// Reads every original again past the page cache and compares it with the catalog; then looks for files that the catalog
/// does not know. Changes nothing.
///
/// Arguments: `sample`, `2/7`: the second of seven parts, so that a week of runs reads everything once. `mirror`, `1`: the
/// mirror instead of the library; what it should hold and does not counts as not mirrored from then on.
package struct VerifyOperation: Sendable {
    private let rooms: UpkeepRooms
    /// - Throws: why the mirror cannot be opened, or that there is none.
    private let mirror: @Sendable () throws(Problem) -> Library

    package init(_ rooms: UpkeepRooms, mirror: @escaping @Sendable () throws(Problem) -> Library) {
        self.rooms = rooms
        self.mirror = mirror
    }

    /// Which part of the originals is read.
    package struct Sample: Hashable, Sendable {
        package let part: UInt64
        package let parts: UInt64

        /// - Throws: `E_BAD_REQUEST`.
        package init(_ text: String) throws(Problem) {
            let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { UInt64($0) }
            guard numbers.count == 2, let part = numbers[0], let parts = numbers[1], part >= 1, part <= parts,
                parts <= 1_000_000
            else {
                throw Problem(
                    .badRequest, "`\(SafeText.of(text, limit: 40))` is no sample.",
                    todo: "Write it as n/t: 1/7 is the first of seven parts.")
            }
            self.part = part
            self.parts = parts
        }

        /// By the bytes themselves, so that a part stays the same however the library grows.
        func includes(_ digest: SHA256Digest) -> Bool {
            digest.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % parts == part - 1
        }
    }

    package func run(_ run: OperationRun) throws(OperationRun.Ended) {
        let isOfMirror = try run.orEnd { () throws(Problem) in try Self.isOfMirror(run.operation.arguments) }
        let library = try run.orEnd(isOfMirror ? mirror : rooms.library)
        let sample = try run.orEnd { () throws(Problem) in
            if let text = run.operation.arguments["sample"] { return try Sample(text) as Sample? }
            return nil
        }
        try readOriginals(run, library, sample)
        if sample == nil { try ForeignFiles(store: rooms.store, library: library).look(run) }
    }

    private static func isOfMirror(_ arguments: [String: String]) throws(Problem) -> Bool {
        switch arguments["mirror"] {
        case nil, "0": return false
        case "1": return true
        case .some(let text):
            throw Problem(
                .badRequest, "`mirror` is 1 or 0, not `\(SafeText.of(text, limit: 40))`.",
                todo: "Write {\"mirror\": \"1\"} to have the mirror read.")
        }
    }

    // MARK: Originals

    private static let portion = 200
    private static let originalsRead = "originals-read"

    private func readOriginals(
        _ run: OperationRun, _ library: Library, _ sample: Sample?
    ) throws(OperationRun.Ended) {
        if run.cursor == Self.originalsRead { return }
        let isOfMirror = library.role == .mirror
        var place = run.cursor.flatMap(Self.place)
        if place == nil {
            run.restart()
            run.setTotal(
                try run.orEnd { () throws(Problem) in try rooms.store.resourceTotals(onMirror: isOfMirror).files })
        }
        while true {
            let after = place
            let portion = try run.orEnd { () throws(Problem) in
                try rooms.store.resources(after: after, limit: Self.portion, onMirror: isOfMirror)
            }
            guard let last = portion.last else { break }
            for (place, resource) in portion {
                if sample?.includes(resource.sha256) ?? true {
                    try run.orEnd { () throws(Problem) in try library.check() }
                    if let finding = try compare(resource, of: place.asset, in: library, run) {
                        run.find(finding)
                        if isOfMirror {
                            try run.orEnd { () throws(Problem) in try rooms.store.unmirror(resource.path) }
                        }
                    }
                }
                run.advance(by: 1)
                try run.reached(Self.cursor(place))
            }
            place = last.place
        }
        try run.reached(Self.originalsRead, recordNow: true)
    }

    private static func cursor(_ place: Store.ResourcePlace) -> String { "\(place.asset)/\(place.position)" }

    private static func place(_ cursor: String) -> Store.ResourcePlace? {
        let parts = cursor.split(separator: "/")
        guard parts.count == 2, let position = Int64(parts[1]) else { return nil }
        return Store.ResourcePlace(asset: String(parts[0]), position: position)
    }

    /// - Returns: nil when the medium holds what the catalog says.
    private func compare(
        _ resource: Resource, of asset: Asset.ID, in library: Library, _ run: OperationRun
    ) throws(OperationRun.Ended) -> Operation.Finding? {
        let found: Fault?
        do throws(CopyFailure) {
            found = try Self.look(at: resource, in: library, isCancelled: { run.isEnding })
        } catch {
            switch error {
            case .cancelled:
                try run.check()
                return nil
            case .source(let errno), .destination(let errno): found = Self.fault(of: errno, resource, library.role)
            }
        }
        guard let found else { return nil }
        // It may have been put into the trash on purpose since its portion was read from the catalog.
        let isStillListed = try run.orEnd { () throws(Problem) in try rooms.store.isListed(resource.path) }
        return isStillListed
            ? Operation.Finding(found.kind, path: resource.path, asset: asset, found.sentence) : nil
    }

    private typealias Fault = (kind: String, sentence: String)

    private static func look(
        at resource: Resource, in library: Library, isCancelled: () -> Bool
    ) throws(CopyFailure) -> Fault? {
        let name = SafeText.of(resource.path)
        let file: Descriptor
        do throws(Errno) { file = try library.root.openForReading(resource.path) } catch { throw .destination(error) }
        let size: Int64
        do throws(Errno) { size = try file.status().stamp.size } catch { throw .destination(error) }
        if size < resource.size { return ("truncated", "\(name) has \(size) of its \(resource.size) bytes.") }
        if size > resource.size { return ("changed", "\(name) has \(size) bytes instead of \(resource.size).") }
        let content = try readBack(file, isCancelled: isCancelled)
        return content.sha256 == resource.sha256
            ? nil : ("changed", "\(name) no longer holds the bytes that were imported.")
    }

    private static func fault(of errno: Errno, _ resource: Resource, _ role: LibraryMarker.Role) -> Fault {
        let name = SafeText.of(resource.path)
        return switch errno {
        case .noEntry, .notDirectory:
            ("missing", "\(name) is not \(role == .library ? "in the library" : "on the mirror").")
        case .loop, .notRegularFile: ("changed", "\(name) is no file any more.")
        default: ("unreadable", "\(name) could not be read: \(errno).")
        }
    }
}
