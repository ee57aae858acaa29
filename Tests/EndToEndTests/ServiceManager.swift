import Foundation
import TestSupport

/// The service manager's end of sd_notify(3).
final class ServiceManager {
    private let descriptor: Int32

    init(at path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, size) }
        }
        guard code == 0 else { throw Installation.Failure("bind \(path): \(errno)") }
    }

    deinit { close(descriptor) }

    /// Passes over what has come so far.
    func forget() {
        var byte: UInt8 = 0
        while unsafe recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) >= 0 {}
    }

    /// Whether a ping comes before so many seconds are over.
    func isPinged(within seconds: Double) async throws -> Bool { try await hears("WATCHDOG=1", within: seconds) }

    /// Whether a message with these words comes before so many seconds are over.
    func hears(_ words: String, within seconds: Double) async throws -> Bool {
        let end = Date.now + seconds
        var buffer = [UInt8](repeating: 0, count: 4096)
        while Date.now < end {
            let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if String(decoding: buffer.prefix(max(0, count)), as: UTF8.self).contains(words) { return true }
            if count < 0 { try await Task.sleep(for: .milliseconds(20)) }
        }
        return false
    }
}
