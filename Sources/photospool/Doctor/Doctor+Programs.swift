internal import ControlAPI
internal import PhotoModel

extension Doctor {
    /// The three programs, and whether they belong together.
    mutating func checkPrograms() {
        var agreeing = 1  // this one
        for name in ["photospoold", "photospool-decoder"] {
            guard let path = installed.programs[name] else {
                add(
                    .fault(
                        "programs", "\(name) is not installed.",
                        todo: name == "photospoold"
                            ? "Install it beside photospool, or with the package."
                            : "Install it beside photospoold, or in ../libexec/photospool from there."))
                continue
            }
            let shown = SafeText.of(path)
            switch Self.version(of: path) {
            case Release.version?: agreeing += 1
            case let version?:
                add(
                    .fault(
                        "programs", "\(shown) is version \(SafeText.of(version)), photospool is \(Release.version).",
                        todo: "Install one version of all three programs, then restart the service."))
            case nil:
                add(
                    .fault(
                        "programs", "\(shown) does not start, or tells no version within 5 s.",
                        todo: "Run `\(shown) --version` and look at what it says; install it again."))
            }
        }
        if agreeing == 3 {
            add(
                .ok(
                    "programs",
                    "photospoold, photospool and photospool-decoder are there, all version"
                        + " \(Release.version)."))
        }
        if case .success(let status) = installed.status, status.version != Release.version {
            add(
                .warning(
                    "programs",
                    "The service that runs is version \(SafeText.of(status.version)), photospool is"
                        + " \(Release.version).", todo: "Restart it: systemctl restart photospool"))
        }
    }

    /// The second word of what `--version` prints.
    private static func version(of program: Path) -> String? {
        do throws(Tool.Failure) {
            let outcome = try Tool.run(program, ["--version"])
            let words = outcome.output.split { $0 == " " || $0 == "\n" }
            return outcome.status == 0 && words.count > 1 ? String(words[1]) : nil
        } catch {
            return nil  // the caller says that it told none
        }
    }

    // MARK: Decoder

    /// Whether it can be locked in, and what it can decode. It was looked for before.
    mutating func checkDecoder() {
        guard let path = installed.programs["photospool-decoder"] else {
            return add(
                .fault(
                    "decoder", "There is no decoder: importing pauses with E_DECODER_MISSING.",
                    todo: Problem.Code.decoderMissing.usualRemedy))
        }
        let shown = SafeText.of(path)
        do throws(Tool.Failure) {
            let outcome = try Tool.run(path, ["--self-test"])
            let lines = outcome.output.split(separator: "\n").map(String.init)
            add(Self.sandbox(lines, status: outcome.status, command: "\(shown) --self-test"))
            let formats = try Tool.run(path, ["--formats"])
            add(contentsOf: Self.formats(formats.output))
        } catch {
            let why =
                switch error {
                case .notStarted(let errno): "cannot be started: \(errno)"
                case .tooLong: "does not end within 5 s"
                }
            add(.fault("decoder", "\(shown) \(why).", todo: "Install it again, with the libraries it needs."))
        }
    }

    /// Videos have a decoder of their own, which need not be there.
    mutating func checkMovieDecoder() {
        let advice = "Install photospool-decoder-av, with FFmpeg's libraries, beside photospool-decoder."
        guard let path = installed.programs["photospool-decoder-av"] else {
            return add(
                .warning(
                    "decoder.movies", "There is no decoder for videos: they are imported without a preview.",
                    todo: advice))
        }
        guard let version = Self.version(of: path) else {
            return add(
                .warning(
                    "decoder.movies",
                    "\(SafeText.of(path)) does not start: videos are imported without a preview.", todo: advice))
        }
        guard version == Release.version else {
            return add(
                .fault(
                    "decoder.movies",
                    "\(SafeText.of(path)) is version \(SafeText.of(version)), photospool is \(Release.version).",
                    todo: "Install one version of all programs, then restart the service."))
        }
        do throws(Tool.Failure) {
            let outcome = try Tool.run(path, ["--self-test"])
            let lines = outcome.output.split(separator: "\n").map(String.init)
            var found = Self.sandbox(lines, status: outcome.status, command: "\(SafeText.of(path)) --self-test")
            found.check = "decoder.movies"
            add(found)
        } catch {
            add(.warning("decoder.movies", "The decoder for videos does not end within 5 s.", todo: advice))
        }
    }

    /// - Parameter lines: `exec: refused: …`, one for each attempt, and a last one with the verdict.
    static func sandbox(_ lines: [String], status: Int32, command: String) -> Diagnosis {
        let attempts = lines.filter { $0.contains(": ") }
        if status == 0 {
            return .ok(
                "decoder", "The decoder starts, and its sandbox refused all \(attempts.count) attempts to break out.")
        }
        let held = attempts.filter { $0.contains(": refused") || $0.contains(": killed (SIGSYS)") }
        let open = attempts.filter { !held.contains($0) }.map { SafeText.of($0, limit: 200) }
        let what = open.isEmpty ? "ended with \(status)" : open.joined(separator: "; ")
        return .fault(
            "decoder", "The decoder's sandbox does not hold: \(what).",
            todo: "Landlock and seccomp must be enabled in the kernel (5.13 or newer); `\(command)` tells each attempt."
        )
    }

    /// - Parameter text: `HEIC: yes`, one format a line.
    static func formats(_ text: String) -> [Diagnosis] {
        var there: [String] = []
        var missing: [String] = []
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":")
            guard parts.count == 2 else { continue }
            let name = SafeText.of(String(parts[0]), limit: 20)
            if parts[1].hasSuffix("yes") { there.append(name) } else { missing.append(name) }
        }
        guard !there.isEmpty else {
            return [
                .warning(
                    "decoder.formats", "The decoder does not tell what it can decode.",
                    todo: "Install the decoder of this version.")
            ]
        }
        var found = [Diagnosis.ok("decoder.formats", "It decodes \(there.joined(separator: ", ")).")]
        if !missing.isEmpty {
            found.append(
                .warning(
                    "decoder.formats",
                    "It cannot decode \(missing.joined(separator: ", ")): such photos are imported without"
                        + " a preview.", todo: "Install the libraries for it: libde265 for HEIC, dav1d for AVIF."))
        }
        return found
    }
}
