import Glibc

/// The photos of real cameras with what independent tools (exiftool, exiv2, vips, ffprobe) say about each; not part of the
/// repository. `PHOTOSPOOL_CORPUS`, else `../shared/corpus` beside the package.
enum Corpus {
    struct Row: Sendable {
        let fields: [String: String]
        var path: String { fields["path"] ?? "" }
        subscript(_ name: String) -> String { fields[name] ?? "" }
    }

    static let folder: String? = {
        let variable = unsafe getenv("PHOTOSPOOL_CORPUS").map { unsafe String(cString: $0) }
        let package = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        return [variable, package + "/../shared/corpus"].compactMap { $0 }.first {
            unsafe access($0 + "/MANIFEST.tsv", R_OK) == 0
        }
    }()

    static func rows(of test: String) -> [Row] {
        guard let folder else {
            print("skipped: \(test) (no corpus)")
            return []
        }
        let lines = String(decoding: contents(of: folder + "/MANIFEST.tsv"), as: UTF8.self).split(separator: "\n")
        let names = lines[0].split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        return lines.dropFirst().map { line in
            let values = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return Row(fields: Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first }))
        }
    }

    static func contents(of path: String) -> [UInt8] {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = unsafe read(file, &piece, piece.count)
            guard count > 0 else { return bytes }
            bytes += piece.prefix(count)
        }
    }
}
