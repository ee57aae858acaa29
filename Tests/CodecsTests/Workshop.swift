import Foundation
import PhotoModel
import TestSupport
import Testing

/// Makes pictures with other people's tools: cwebp, webpmux, convert, tiffcp, tiffset, cjxl.
struct Workshop {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    func path(_ name: String) -> String { folder.path + "/" + name }

    func put(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: URL(filePath: path(name))) }

    /// As PPM, which all of them read.
    func put(_ card: Card, _ name: String) throws {
        try put(Array("P6\n\(card.width) \(card.height)\n255\n".utf8) + card.rgb, name)
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path(name)))) }

    /// Runs a tool; words that start with `@` are names of files here.
    func run(_ command: String) throws {
        let words = command.split(separator: " ").map { word -> String in
            word.hasPrefix("@") ? path(String(word.dropFirst())) : String(word)
        }
        let outcome = try Programs.run("/usr/bin/env", words)
        let complaint = outcome.errors
        try #require(outcome.status == 0, "\(command): \(complaint)")
    }

    /// What a tool makes: `name`, or the file that the command names last.
    func make(_ command: String, _ name: String? = nil) throws -> [UInt8] {
        try run(command)
        return try bytes(name ?? String(try #require(command.split(separator: "@").last)))
    }
}
