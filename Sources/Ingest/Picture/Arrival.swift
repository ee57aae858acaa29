import PhotoModel

/// Whether a file that ends early, or has a hole where bytes belong, may still be arriving: its device closed it, and goes on with it after a while. It is not
/// decided then, but looked at again once nothing has touched it for so long; a change meanwhile settles it anew.
struct Arrival {
    /// Cameras and phones on a share were seen to go on after 6 s; a minute leaves room for slow ones, and for a person who
    /// resumes a copy.
    static let patience = Duration.seconds(60)

    /// nil where nobody waits: with `--once`.
    let patience: Duration?
    let now: Timestamp
    /// Where no time of the file can be believed, the patience counts from here: a server's clock may be far ahead.
    let handedOver: Timestamp

    /// - Throws: ``ImportOutcome/mayStillArrive(_:until:)``.
    func check(_ staged: [StagedResource], _ inspections: [Inspection]) throws(ImportEnded) {
        for (file, inspection) in zip(staged, inspections) where inspection.endsEarly || file.hasHole {
            try check(file)
        }
    }

    /// The same for a file that is known to end early.
    func check(_ file: StagedResource) throws(ImportEnded) {
        let touched = min(file.touched ?? handedOver, now)
        guard let patience, now - touched < patience else { return }
        let end = touched + patience
        throw ImportEnded(
            .mayStillArrive(
                Problem(
                    .sourceBusy,
                    "\(SafeText.of(file.source)) is not whole, and was touched \((now - touched).components.seconds) s "
                        + "ago: it may still be arriving.",
                    todo:
                        "Nothing; it is looked at again once it has been left alone for \(patience.components.seconds) s."
                ),
                until: end))
    }
}
