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

    /// A decoder beside this program, as in a build folder, else where `make install` puts it: in
    /// `../libexec/photospool`, whatever the prefix is.
    static func decoderPath(_ name: String = "photospool-decoder") -> Path {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return Path("/usr/libexec/photospool") / name }
        let folder = Path(bytes: buffer.prefix(count).map { UInt8(bitPattern: $0) }).parent
        let beside = folder / name
        if unsafe beside.withCString({ unsafe access($0, X_OK) }) == 0 { return beside }
        return folder.parent / "libexec/photospool" / name
    }
}
