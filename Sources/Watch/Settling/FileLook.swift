import CLinux
import Files
import PhotoModel

/// What a close look at a file shows.
enum FileLook {
    case file(FileStamp, Settling.Writer)
    /// No longer there, or no file: a folder, a link, a pipe.
    case gone
    case failed(Errno)

    /// Looks at a name in a folder that is held, through an open descriptor: a share then asks its server, and a read
    /// lease tells of a writer.
    init(at name: Path, in folder: borrowing Folder, on volume: Volume?) {
        do throws(Errno) {
            let file = try folder.openForReading(name)
            let stamp = try file.status().stamp
            self = .file(stamp, volume?.isRemote ?? true ? .unknown : Settling.Writer(of: file))
        } catch {
            switch error {
            case .noEntry, .notDirectory, .loop, .notRegularFile, .noSuchDeviceOrAddress: self = .gone
            // A lease of somebody else stands against ours: it is a writer's.
            case .wouldBlock: self = Self.byName(name, in: folder, .present)
            case .accessDenied, .notPermitted: self = Self.byName(name, in: folder, .unknown)
            default: self = .failed(error)
            }
        }
    }

    /// For a file that cannot be opened; that it cannot be read is for its import to say.
    private static func byName(_ name: Path, in folder: borrowing Folder, _ writer: Settling.Writer) -> FileLook {
        do throws(Errno) {
            let status = try folder.status(of: name)
            return status.kind == .regular ? .file(status.stamp, writer) : .gone
        } catch {
            return error == .noEntry ? .gone : .failed(error)
        }
    }
}

extension Settling.Writer {
    init(of file: borrowing Descriptor) {
        self =
            switch watch_writer_of(file.rawValue) {
            case WATCH_WRITER_NONE: .none
            case WATCH_WRITER_PRESENT: .present
            default: .unknown
            }
    }
}
