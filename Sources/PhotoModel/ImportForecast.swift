/// What an import of one shot would come to, found out without changing anything.
package struct ImportForecast: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// Stored there, relative to the library.
        case stored(Path)
        /// The library holds its bytes, and they were read again.
        case duplicate(of: Asset.ID)
        /// The same bytes come earlier in the same import; absolute.
        case repeated(Path)
        /// Handed over before in this very version; what became of it then.
        case known(job: Job.ID, state: JobState, asset: Asset.ID?)
        /// Left where it is.
        case refused(Problem)
    }

    package struct File: Hashable, Sendable {
        package var source: SettledFile
        package var outcome: Outcome
        /// The file of the same shot that it belongs to: of a sidecar, its photo.
        package var companionOf: Path?

        package init(source: SettledFile, outcome: Outcome, companionOf: Path? = nil) {
            self.source = source
            self.outcome = outcome
            self.companionOf = companionOf
        }
    }

    /// In the order of the shot, the leading one first.
    package var files: [File]
    /// The asset in the catalog that the new files would join.
    package var joins: Asset.ID?

    package init(files: [File], joins: Asset.ID? = nil) {
        self.files = files
        self.joins = joins
    }

    /// Why nothing of the shot would be imported.
    package var problem: Problem? {
        for file in files {
            if case .refused(let problem) = file.outcome { return problem }
        }
        return nil
    }
}

/// A name that is passed over in a folder, and the rule that does so.
package struct IgnoredName: Hashable, Sendable {
    /// Absolute.
    package var path: Path
    package var rule: IgnoreRules.Rule

    package init(path: Path, rule: IgnoreRules.Rule) {
        self.path = path
        self.rule = rule
    }
}
