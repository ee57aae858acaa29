import Files
import Glibc
import PhotoModel

/// What this machine and this installation are like.
enum Machine {
    /// Processors this process may run on.
    static var cores: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    static func newID() -> String {
        UUIDv7.make(
            milliseconds: UInt64(clamping: SystemClock.now().nanoseconds / 1_000_000), random: randomBytes(10))
    }

    /// The decoder beside this program, as in a build folder, else where it is installed.
    static func decoderPath() -> Path {
        let installed = Path("/usr/libexec/photospool/photospool-decoder")
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return installed }
        let beside = Path(bytes: buffer.prefix(count).map { UInt8(bitPattern: $0) }).parent / "photospool-decoder"
        return unsafe beside.withCString { unsafe access($0, X_OK) } == 0 ? beside : installed
    }
}
