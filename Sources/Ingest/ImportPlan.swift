package import PhotoModel

/// How one job is imported: the settings of its drop and of the whole, as they were when it was claimed.
package struct ImportPlan: Sendable {
    /// The folder that all of the job's files lie below.
    package var root: Path
    package var template: NamingTemplate
    package var collection: String
    package var kinds: Set<AssetKind>
    package var maxFileSize: ByteCount?
    package var verify: ImportSettings.Verify
    package var maxAttempts: Int
    package var onPreviewFailure: ImportSettings.OnPreviewFailure
    package var spec: PreviewSpec
    package var dispositionAfterImport: DispositionState

    /// - Returns: nil when the drop is no longer configured and the job's files lie below no import root.
    package init?(job: Job, settings: Settings) {
        let drop = settings.drops.first { $0.name == job.drop }
        let lead = job.files.first?.path ?? Path(bytes: [])
        let roots = settings.drops.map(\.path) + settings.control.importRoots
        guard let root = drop.map(\.path) ?? roots.first(where: { lead.below($0) != nil }) else { return nil }
        self.root = root
        let text = drop.map(\.template).flatMap { $0.isEmpty ? nil : $0 } ?? settings.library.template
        do throws(NamingTemplate.Fault) {
            template = try NamingTemplate(text)
        } catch {
            return nil  // never: the configuration was refused before
        }
        collection = drop.map { $0.collection.isEmpty ? $0.name : $0.collection } ?? job.drop
        kinds = drop?.kinds ?? []
        maxFileSize = drop?.maxFileSize
        let keeps = job.isManual || drop?.afterImport ?? .keep == .keep
        // What is moved or deleted is always read back first, whatever the configuration says of other files.
        verify = keeps ? settings.importing.verify : .readback
        maxAttempts = settings.importing.maxAttempts
        onPreviewFailure = settings.importing.onPreviewFailure
        spec = PreviewSpec(settings.preview)
        dispositionAfterImport = keeps ? .keep : .pending
    }
}
