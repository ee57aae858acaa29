import Foundation

extension Corpus {
    /// A file of the corpus with what independent tools (exiftool, exiv2, vips, ffprobe) say about it.
    package struct Row: Sendable {
        let fields: [String: String]
        let file: URL

        /// Empty when no tool found it, or the manifest has no such column.
        package subscript(_ column: String) -> String { fields[column] ?? "" }
        package var path: String { self["path"] }
        package var absolutePath: String { file.path }

        package func contents() throws -> [UInt8] { Array(try Data(contentsOf: file)) }
    }

    /// The manifest's rows; none, said aloud, where there is no corpus.
    package static func rows(for what: String) throws -> [Row] {
        guard let folder = try find(for: what) else { return [] }
        let manifest = try String(contentsOf: folder.appending(path: "MANIFEST.tsv"), encoding: .utf8)
        let lines = manifest.split(separator: "\n").map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().map { values in
            let fields = Dictionary(zip(names, values), uniquingKeysWith: { first, _ in first })
            return Row(fields: fields, file: folder.appending(path: fields["path"] ?? ""))
        }
    }
}
