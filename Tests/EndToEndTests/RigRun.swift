import Foundation
import TestSupport
import Testing

/// Runs a program of Tests/Rigs to its end and expects that it found no fault. Each prints a line for everything it tries, or
/// that it is skipped and why. On a thread of its own, for that may take minutes, and behind the tests beside it, some of
/// which have little time.
func runRig(_ rig: String, _ arguments: [String] = []) async throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Rigs/\(rig)").path
    let outcome = try await withCheckedThrowingContinuation { continuation in
        Thread {
            let outcome = Result {
                try Programs.run(
                    "/usr/bin/env", ["nice", "-n", "10", "python3", path] + arguments,
                    environment: ["PHOTOSPOOL_PROGRAMS": Programs.folder.path])
            }
            continuation.resume(with: outcome)
        }.start()
    }
    print(outcome.output)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
}

/// Whether a sanitizer makes every program ten times slower: then a part has to do.
var rigsAreThinned: Bool { ProcessInfo.processInfo.environment["PHOTOSPOOL_THIN"] != nil }
