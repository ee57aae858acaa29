internal import PhotoModel

/// What only shows when all files are read: keys that do not go together.
extension SettingsReader {
    mutating func checkTogether() {
        checkPathsPresent()
        checkVerify()
        checkDropPaths()
        checkMoveTargets()
    }

    private mutating func checkPathsPresent() {
        for draft in drafts where draft.folder.path.isEmpty && !wasReported(draft, "path") {
            fault(
                "drop.path", "is missing for the drop \"\(draft.folder.name)\"", hint: "write an absolute path",
                at: draft.origins[""])
        }
    }

    /// Whether a fault stands for a key that this drop did write.
    private func wasReported(_ draft: Draft, _ key: String) -> Bool {
        guard let start = draft.origins[""] else { return false }
        return faults.contains {
            $0.key == "drop." + key && $0.file == start.file && ($0.line ?? 0) >= start.place.line
        }
    }

    private mutating func checkVerify() {
        guard settings.importing.verify == .copy else { return }
        for draft in drafts where draft.folder.afterImport != .keep {
            fault(
                "import.verify",
                "\"copy\" does not go with after_import = \"\(draft.folder.afterImport.rawValue)\" of "
                    + "the drop \"\(draft.folder.name)\"",
                hint: "write \"readback\": a source goes only after its original was read again",
                at: origins["import.verify"] ?? draft.origins["after_import"])
        }
    }

    /// Two drops that see the same files would import each of them twice.
    private mutating func checkDropPaths() {
        for draft in drafts where draft.folder.name == "import" {
            fault(
                "drop.name", "\"import\" is the name of what is imported by hand", hint: "choose another",
                at: draft.origins["name"])
        }
        for (position, draft) in drafts.enumerated() where !draft.folder.path.isEmpty {
            for other in drafts[..<position] where !other.folder.path.isEmpty {
                let names = "\"\(other.folder.name)\""
                if draft.folder.path == other.folder.path {
                    fault("drop.path", "is the path of the drop \(names) too", at: draft.origins["path"])
                } else if other.folder.isRecursive, isSeen(draft.folder.path, from: other.folder.path) {
                    fault(
                        "drop.path", "lies inside the drop \(names), which takes its files already",
                        hint: "move it out, or write recursive = false there", at: draft.origins["path"])
                } else if draft.folder.isRecursive, isSeen(other.folder.path, from: draft.folder.path) {
                    fault(
                        "drop.path", "holds the drop \(names) inside and takes its files too",
                        hint: "move that out, or write recursive = false here", at: draft.origins["path"])
                }
            }
        }
    }

    private mutating func checkMoveTargets() {
        for draft in drafts where !draft.folder.moveTo.isEmpty {
            let target = draft.folder.moveTo
            let origin = draft.origins["move_to"]
            if target == settings.library.path || target.below(settings.library.path) != nil {
                fault("drop.move_to", "lies inside the library", hint: "choose a folder outside", at: origin)
            }
            for other in drafts where !other.folder.path.isEmpty {
                let watched = other.folder.path
                guard target == watched || other.folder.isRecursive && isSeen(target, from: watched) else { continue }
                fault(
                    "drop.move_to", "would be taken in again by the drop \"\(other.folder.name)\"",
                    hint: "choose a folder outside, or a hidden one", at: origin)
            }
        }
    }

    /// Whether a watch of `folder` and everything below comes to `path`; it passes over what is hidden.
    private func isSeen(_ path: Path, from folder: Path) -> Bool {
        guard let below = path.below(folder) else { return false }
        return !below.components.contains { $0.bytes.first == UInt8(ascii: ".") }
    }
}
