import Files
import PhotoModel
import Preview

/// What each staged file is and says about itself. Never fails an import for want of metadata; it ends one only when
/// the content has nothing to do with photos.
struct InspectStep {
    let library: Library
    let decoders: DecoderPool
    let isCancelled: () -> Bool
    let log: Log

    /// One inspection per staged file, in order; ``broken(_:_:)`` says which of the files can be no part of a shot.
    func run(_ staged: [StagedResource]) throws(ImportEnded) -> [Inspection] {
        var inspections: [Inspection] = []
        for resource in staged { inspections.append(try inspect(resource)) }
        let problems = zip(staged, inspections).compactMap { Self.problem(of: $0, $1) }
        let isNoShotLeft = problems.count == staged.count { DuplicateStep.shotRoles.contains($0.role) }
        if isNoShotLeft, let problem = problems.first { throw ImportEnded(problem) }
        return inspections
    }

    static func checkKind(of lead: StagedResource, _ inspection: Inspection) throws(ImportEnded) {
        if let problem = problem(of: lead, inspection) { throw ImportEnded(problem) }
    }

    /// What is wrong with the files that should be photos or videos and are neither, by source.
    static func broken(_ staged: [StagedResource], _ inspections: [Inspection]) -> [Path: Problem] {
        var broken: [Path: Problem] = [:]
        for (file, inspection) in zip(staged, inspections) where file.size == 0 || isOneWeKnow(file) {
            broken[file.source] = problem(of: file, inspection)
        }
        return broken
    }

    /// Whether a sound file of this name would be recognized. Of the others (a RAW of some firmware, a bitmap) nobody can say
    /// that they are broken: they go along as they are.
    private static func isOneWeKnow(_ file: StagedResource) -> Bool {
        let name = file.source.lowercaseExtension
        return switch NameKind(extension: name) {
        case .heif, .jpeg, .png: true
        case .image: ["webp", "tif", "tiff", "gif", "jxl"].contains(name)
        case .video: ["mov", "mp4", "m4v", "avi", "mts", "m2ts", "mkv", "webm"].contains(name)
        default: false
        }
    }

    /// A sidecar is what its name says: many are plain text.
    private static func problem(of file: StagedResource, _ inspection: Inspection) -> Problem? {
        let isPicture = inspection.mediaType.isStill || inspection.mediaType.isVideo
        return isPicture || !DuplicateStep.shotRoles.contains(file.role) ? nil : unknown(file)
    }

    private func inspect(_ resource: StagedResource) throws(ImportEnded) -> Inspection {
        let descriptor = try endingImport { () throws(Problem) in
            try onLibrary(resource.staged, doing: "open") { () throws(Errno) in
                try library.root.openForReading(resource.staged)
            }
        }
        return try Self.inspect(descriptor, of: resource, decoders: decoders, isCancelled: isCancelled, log: log)
    }

    /// The file as `descriptor` has it, wherever that lies.
    static func inspect(
        _ descriptor: borrowing Descriptor, of resource: StagedResource, decoders: DecoderPool,
        isCancelled: () -> Bool, log: Log
    ) throws(ImportEnded) -> Inspection {
        do throws(DecoderFailure) {
            return try decoders.inspect(
                descriptor, size: resource.size, name: resource.source.name, isCancelled: isCancelled)
        } catch {
            switch error {
            case .cancelled: throw ImportEnded(.cancelled)
            case .problem(let problem) where problem.code.isOutage: throw ImportEnded(problem)
            case .problem(let problem):
                // Ours, not the file's: it goes on by what its name promises, and says so.
                log(LogLine(.warning, problem, [("PATH", SafeText.of(resource.source))]))
                return Inspection(mediaType: expectedType(of: resource.source))
            }
        }
    }

    /// A name that promises a photo makes its owner expect one; any other name is simply not ours.
    private static func unknown(_ lead: StagedResource) -> Problem {
        if lead.size == 0 { return Problem(.empty, "\(SafeText.of(lead.source)) is empty.") }
        if NameKind(extension: lead.source.lowercaseExtension).isMedia {
            return Problem(
                .corrupt, "\(SafeText.of(lead.source)) has the name of a photo or video, but its content is neither.")
        }
        return Problem(.unsupported, "\(SafeText.of(lead.source)) is neither a photo nor a video.")
    }

    /// What the name promises, for the case that the content could not be looked at.
    private static func expectedType(of source: Path) -> MediaType {
        switch NameKind(extension: source.lowercaseExtension) {
        case .heif: .heic
        case .jpeg: .jpeg
        case .png: .png
        case .image: .tiff
        case .raw: .raw
        case .video: .quicktime
        case .adjustment: .appleAdjustment
        case .sidecar: .xmp
        case .audio: .audio
        case .thumbnail: .jpeg
        case .looseSidecar: .json
        case .other: .unknown
        }
    }
}
