import Files
import Foundation
import PhotoModel
import Store
import TestSupport
import Testing

/// A small import to be disturbed: three shots, one with a sidecar, one twice; and what has to hold in the middle of it
/// and at its end, whatever happened.
struct Shoot {
    let installation: Installation
    let afterImport: String
    /// By path below the drop folder.
    let sources: [String: Data]

    init(afterImport: String, more: String = "workers = 2", in base: String? = nil) throws {
        self.afterImport = afterImport
        installation = try Installation(
            in: base, dropKeys: "after_import = \"\(afterImport)\"\nrescan_interval = \"10s\"",
            more: "[import]\n\(more)\nsweep_after = \"1s\"\n")
        let photo = try Samples.variant(1)
        let settings = Data("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"></x:xmpmeta>".utf8)
        sources = [
            "IMG_0001.JPG": photo, "IMG_0001.XMP": settings, "IMG_0002.JPG": try Samples.variant(2),
            "twice/IMG_0001.JPG": photo,
        ]
        for (path, data) in sources {
            let url = installation.drop.appending(path: path)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: url)
        }
    }

    /// For rules: everything the daemon writes to.
    var everywhere: String {
        [installation.library, installation.drop, installation.state].map(\.path).joined(separator: ",")
    }

    private func contents(_ url: URL) throws -> [String: Data] {
        var found: [String: Data] = [:]
        for path in try installation.files(below: url) where !path.hasPrefix(".photospool/") || url == installation.drop
        {
            // What is being renamed at this moment is found under its other name.
            if let data = try? Data(contentsOf: url.appending(path: path)) { found[path] = data }
        }
        return found
    }

    /// At any moment: nothing partial is seen, nothing is lost.
    func checkPromises(_ situation: String) throws {
        let dropped = try contents(installation.drop)
        let stored = try contents(installation.library)
        let known = Set(sources.values)
        for (path, data) in stored where !known.contains(data) {
            Issue.record("\(situation): \(path) is partial: \(data.count) bytes\n\(installation.logText)")
        }
        let journal = try installation.files(below: installation.library.appending(path: ".photospool/journal"))
            .map {
                try String(
                    contentsOf: installation.library.appending(path: ".photospool/journal/\($0)"), encoding: .utf8)
            }
            .joined()
        for (path, data) in sources where !dropped.values.contains(data) {
            if !stored.values.contains(data) {
                Issue.record("\(situation): \(path) is lost\n\(installation.logText)")
            }
        }
        for (path, data) in sources where dropped[path] != data {
            let line = "\"path\":\"\(installation.drop.path)/\(path)\""
            if afterImport == "keep" || !journal.contains(line) {
                Issue.record("\(situation): \(path) left its place without a line in the journal")
            }
        }
    }

    /// When all is done: each photo once, with its preview and its row, staging empty, sources where they belong.
    func checkEnd(_ situation: String) throws {
        try checkPromises(situation)
        let note = Comment(rawValue: "\(situation)\n\(installation.logText)")
        let stored = try contents(installation.library)
        #expect(Set(stored.values) == Set(sources.values), note)
        #expect(stored.count == 3, note)
        #expect(try installation.stagedEntries().isEmpty, note)
        let previews = try installation.files(below: installation.library.appending(path: ".photospool/previews"))
        #expect(previews.count == 2, note)

        let left = try contents(installation.drop)
        switch afterImport {
        case "keep": #expect(left == sources, note)
        case "move":
            #expect(Set(left.keys) == Set(sources.keys.map { ".imported/" + $0 }), note)
            #expect(Set(left.values) == Set(sources.values), note)
        default: #expect(left.isEmpty, note)
        }
        try checkCatalog(note, stored: stored)
    }

    private func checkCatalog(_ note: Comment, stored: [String: Data]) throws {
        let store = try Store(
            directory: Path(installation.state.path), log: { _ in }, now: Timestamp(seconds: 1_779_001_200))
        let assets = try store.assets(AssetFilter(), limit: 200).items
        #expect(assets.count == 2, note)
        let resources = assets.flatMap(\.resources)
        #expect(Set(resources.map(\.path.shown)) == Set(stored.keys), note)
        for resource in resources {
            let data = stored[resource.path.shown] ?? Data()
            #expect(resource.sha256 == SHA256.digest(of: Array(data)), note)
        }
        let jobs = try store.jobs(JobFilter(), limit: 200).items
        // Whichever of the two equal photos came second is the duplicate, or brings its sidecar along.
        #expect(jobs.count == 3, note)
        #expect(jobs.allSatisfy { $0.state == .imported || $0.state == .duplicate }, note)
        let dispositions = Set(jobs.map(\.disposition.rawValue))
        let wanted = ["keep": "keep", "move": "moved", "delete": "deleted"][afterImport] ?? ""
        #expect(dispositions == [wanted], note)
    }
}
