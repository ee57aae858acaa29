import Files
import Foundation
import Ingest
import PhotoModel
import Store
import TestSupport
import Testing

@testable import Upkeep

/// A state and a library of their own, and a desk that works.
final class UpkeepScene {
    let folder: TemporaryFolder
    let store: Store
    let library: Library
    /// 2026-05-17T07:00:00Z
    static let start = Timestamp(seconds: 1_779_001_200)

    init() throws {
        folder = try TemporaryFolder()
        for name in ["library", "state"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: name), withIntermediateDirectories: true)
        }
        store = try Store(directory: Path(folder.path + "/state"), log: { _ in }, now: Self.start)
        var settings = LibrarySettings()
        settings.path = Path(folder.path + "/library")
        settings.reserveFree = .zero
        library = try Library(settings: settings, knownID: nil, now: Self.start) { _ in }
    }

    /// What operations work with.
    func rooms(now: @escaping @Sendable () -> Timestamp = { UpkeepScene.start }) -> UpkeepRooms {
        let library = library
        return UpkeepRooms(store: store, library: { library }, drops: { [] }, log: { _ in }, now: now)
    }

    var trash: Trash { Trash(store: store, log: { _ in }, now: { Self.start }) }

    func names(_ relative: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.appending(path: relative).path).sorted()
    }

    /// Does one operation to its end, as the desk does.
    func perform(
        _ kind: PhotoModel.Operation.Kind, _ arguments: [String: String] = [:], at time: Timestamp = start,
        _ work: (OperationRun) throws(OperationRun.Ended) -> Void
    ) throws -> OperationRun {
        let id = try store.order(kind, arguments, at: time)
        let taken = try #require(try store.takeOperation())
        try #require(taken.operation.id == id)
        let run = OperationRun(taken.operation, cursor: taken.cursor, store: store)
        try work(run)
        try store.finishOperation(id, as: .done, problem: nil, results: run.results, at: time)
        return run
    }
}
