package import PhotoModel

extension Folder {
    /// What names may be here. Whether Windows' rules hold is asked of the filesystem itself, by a file that is made and
    /// removed again: the same type has them or not as it was mounted, and a share as its server has it. Those that have
    /// their own rules for certain are not asked.
    ///
    /// - Parameter trial: an empty file is tried under a name in this folder, which only we use.
    package func nameRules(tryingIn trial: Path) throws(Errno) -> NameRules {
        NameRules(longest: longestName, areThoseOfWindows: try forbidsWhatWindowsDoes(in: trial))
    }

    /// Of linux/magic.h: ext4, XFS, btrfs, tmpfs, F2FS, ZFS, bcachefs, ramfs.
    private static let takeEverything: Set<UInt32> = [
        0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e, 0x8584_58f6,
    ]
    /// FAT and exFAT, which know no other way, also where nothing can be tried.
    private static let takeLess: Set<UInt32> = [0x4d44, 0x2011_bab0]

    private func forbidsWhatWindowsDoes(in trial: Path) throws(Errno) -> Bool {
        let type = try filesystem().type
        if Self.takeEverything.contains(type) { return false }
        if Self.takeLess.contains(type) { return true }
        let name = trial / "names \"*:<>?\\|"
        do throws(Errno) {
            _ = try create(name, mode: 0o600)
        } catch {
            // Linux says EINVAL; what a share's server thinks of such a name may come as ENOENT. What else stands in the
            // way, a full disk say, tells nothing of names.
            if error == .exists { try unlink(name) }
            return error == .invalid || error == .noEntry
        }
        try unlink(name)
        return false
    }
}
