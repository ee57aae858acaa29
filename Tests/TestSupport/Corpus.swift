package import Foundation

/// The real camera files that the project is tested with but does not ship.
package enum Corpus {
    /// nil when it is not there. With PHOTOSPOOL_CORPUS_REQUIRED set that is a failure, reported by who asks.
    package static let folder: URL? = {
        var candidates: [URL] = []
        if let named = ProcessInfo.processInfo.environment["PHOTOSPOOL_CORPUS"] {
            candidates.append(URL(filePath: named))
        }
        // Beside the checkout, which holds this file in Tests/TestSupport.
        let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        candidates.append(checkout.deletingLastPathComponent().appending(path: "shared/corpus"))
        return candidates.first { FileManager.default.fileExists(atPath: $0.appending(path: "MANIFEST.tsv").path) }
    }()

    package static var isRequired: Bool {
        ProcessInfo.processInfo.environment["PHOTOSPOOL_CORPUS_REQUIRED"] != nil
    }

    package struct Missing: Error {}

    /// The corpus, or nil after saying aloud that `what` is skipped.
    ///
    /// - Throws: ``Missing`` where skipping counts as failing.
    package static func find(for what: String) throws -> URL? {
        if let folder { return folder }
        if isRequired { throw Missing() }
        print("skipped: \(what) (no corpus)")
        return nil
    }
}
