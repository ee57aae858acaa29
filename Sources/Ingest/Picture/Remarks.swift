import PhotoModel

/// What a person may want to know of files that were imported all the same: no failure, and nothing to be done by itself.
enum Remarks {
    /// One line for each, for the log.
    static func lines(
        _ staged: [StagedResource], _ inspections: [Inspection], _ preview: PreviewStep.Result
    ) -> [LogLine] {
        var lines: [LogLine] = []
        for (resource, inspection) in zip(staged, inspections) {
            let path = ("PATH", SafeText.of(resource.source))
            // Kept as it is: whoever gave it the name may look for it by that.
            if inspection.mediaType != .unknown,
                !inspection.mediaType.fits(extension: resource.source.lowercaseExtension)
            {
                lines.append(
                    LogLine(
                        .info, "A file is not what its name says; the name is kept.",
                        [path, ("MEDIA_TYPE", inspection.mediaType.rawValue)]))
            }
            lines += inspection.notes.map { LogLine(.info, "A file is odd.", [path, ("DETAIL", $0)]) }
        }
        if case .made(let made) = preview { lines += Self.lines(made) }
        return lines
    }

    /// Of a preview alone.
    static func lines(_ made: StagedPreview) -> [LogLine] {
        guard let warning = made.warning else { return [] }
        return [
            LogLine(
                .warning, "A preview was made of a picture that is not quite sound.",
                [("PATH", SafeText.of(made.source)), ("DETAIL", warning)])
        ]
    }
}
