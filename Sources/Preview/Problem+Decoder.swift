import DecoderWire
import Files
import PhotoModel

extension Problem {
    /// What a decoder says about a file, as a problem of that file.
    static func decoding(_ name: Path, _ code: Code, _ detail: String) -> Problem {
        Problem(code, "Could not make a preview of \(SafeText.of(name.name)): \(detail).")
    }

    static func needsTooMuchMemory(_ name: Path, _ need: ByteCount, most: ByteCount) -> Problem {
        Problem(
            .tooLarge,
            "Could not make a preview of \(SafeText.of(name.name)): it needs \(need.bytes >> 20) MiB of memory by its "
                + "header, and no picture gets more than \(most.bytes >> 20) MiB.",
            todo:
                "Raise import.memory_budget, or live without this preview; the original is safe. `photospool previews "
                + "--missing` tries again.")
    }

    /// - Parameter isAll: whether no picture gets more than it was given.
    static func tookTooMuchMemory(_ name: Path, given: ByteCount, isAll: Bool, _ detail: String) -> Problem {
        Problem(
            .tooLarge,
            "Could not make a preview of \(SafeText.of(name.name)): it took more than the \(given.bytes >> 20) MiB of memory "
                + "that it got, which its header does not tell (\(detail)).",
            todo: (isAll ? "Raise import.memory_budget, or live" : "Live")
                + " without this preview; the original is safe. `photospool previews --missing` tries again.")
    }

    static func decodeTimeout(_ name: Path, _ deadline: Duration) -> Problem {
        Problem(
            .decodeTimeout,
            "Decoding \(SafeText.of(name.name)) took longer than the deadline of \(deadline.components.seconds) s.")
    }

    static func decoderCrash(_ name: Path, _ how: String) -> Problem {
        Problem(.decoderCrash, "Two decoders in a row failed on \(SafeText.of(name.name)): \(how).")
    }

    static func noDecoder(_ program: Path, _ why: String) -> Problem {
        Problem(.decoderMissing, "The decoder \(SafeText.of(program)) does not work: \(why).")
    }

    static func noMovieDecoder(_ name: Path, _ why: String) -> Problem {
        Problem(
            .unsupported,
            "There is no preview of \(SafeText.of(name.name)): videos need photospool-decoder-av, \(why).",
            todo:
                "Install photospool-decoder-av, with FFmpeg's libraries, beside photospool-decoder; the preview is then "
                + "made by itself at the next start.")
    }

    /// Starting or feeding a decoder failed for a reason that has nothing to do with decoder or file.
    static func decoderResources(_ error: Errno) -> Problem {
        Problem(.memory, "Could not start or feed a decoder: \(error.description).")
    }
}
