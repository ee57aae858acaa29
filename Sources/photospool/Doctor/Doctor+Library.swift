internal import ControlAPI
internal import Files
internal import Glibc
internal import PhotoModel

extension Doctor {
    mutating func checkLibrary(_ settings: Settings) {
        let path = settings.library.path
        let shown = SafeText.of(path)
        do throws(Place.Refusal) {
            let place = try Place.open(path)
            checkMarker(place)
            checkAccess(place)
            checkSpace(place, settings.library)
            checkFilesystem(place)
            checkAbilities(place)
        } catch {
            switch error {
            case .absent:
                add(
                    .fault(
                        "library", "The library \(shown) is not there.",
                        todo: "Mount or connect its disk; for a new library run `sudo photospool init \(shown)`."))
            case .silent:
                add(
                    .fault(
                        "library", "The library \(shown) does not answer within 5 s.",
                        todo: "Check the share it lies on, and the network."))
            case .closed(let errno): add(Self.closed("library", "The library \(shown)", errno))
            }
        }
        if case .success(let status) = installed.status, PathText(path).text != status.library.path {
            add(
                .warning(
                    "library",
                    "The service that runs uses \(SafeText.of(status.library.path)), the configuration names"
                        + " \(shown).", todo: "Restart it: systemctl restart photospool"))
        }
    }

    private mutating func checkMarker(_ place: borrowing Place) {
        let shown = SafeText.of(place.path)
        do throws(Problem) {
            if let marker = try LibraryMarker.read(in: place.folder, shown: place.path) {
                return add(
                    .ok("library", "\(shown) is a library, id \(marker.id), made \(SafeText.of(marker.createdAt))."))
            }
            add(
                .fault(
                    "library",
                    "\(shown) has no marker \(SafeText.of(LibraryMarker.path)): the service writes nothing there.",
                    todo: "Mount the right disk there; for a new library run `sudo photospool init \(shown)`."))
        } catch {
            if error.code == .libraryPermission {
                add(.unknown("library", error.whatHappened))
            } else {
                add(.fault("library", error.whatHappened, todo: error.whatToDo))
            }
        }
    }

    /// The id that the folder carries; nil when it has none that can be read, which was told.
    var libraryID: String? {
        guard let path = installed.settings?.library.path else { return nil }
        do throws(Errno) {
            let folder = try Folder(opening: path)
            do throws(Problem) { return try LibraryMarker.read(in: folder, shown: path)?.id } catch { return nil }
        } catch { return nil }
    }

    // MARK: Owner, group, modes

    private mutating func checkAccess(_ place: borrowing Place) {
        let check = "library.access"
        let user = installed.user
        let before = diagnoses.count
        let todo =
            "Give the folder to the service: chown -R \(user.name) \(SafeText.of(place.path / LibraryMarker.folder)),"
            + " and let it write to the library itself."
        var folders = [place.path]
        for name in [Path(""), Path("staging"), Path("previews"), Path("journal")] {
            let folder = LibraryMarker.folder / name
            do throws(Errno) {
                if try place.folder.contains(folder) { folders.append(place.path / folder) }
            } catch {
                add(.unknown(check, "\(SafeText.of(place.path / folder)) could not be looked at: \(error)."))
                break
            }
        }
        for folder in folders {
            guard let refusal = refusal(check, R_OK | W_OK | X_OK, folder, "read and write", todo: todo) else {
                continue
            }
            add(refusal)
            if refusal.state == .unknown { break }  // the others would say the same
        }
        if place.status.isWorldWritable {
            add(
                .warning(
                    check, "Everybody may write to the library (\(place.owners)).",
                    todo: "Run `chmod o-w \(SafeText.of(place.path))`."))
        }
        checkStaging(place)
        if !diagnoses[before...].contains(where: { $0.check == check }) {
            add(.ok(check, "The service's user \(user.name) may read and write it (\(place.owners))."))
        }
    }

    /// Closed to others, and on the filesystem of the originals: only there is a commit one rename.
    private mutating func checkStaging(_ place: borrowing Place) {
        let staging = LibraryMarker.folder / "staging"
        let shown = SafeText.of(place.path / staging)
        do throws(Errno) {
            let status = try place.folder.status(of: staging)
            if status.mode & 0o077 != 0 {
                add(
                    .warning(
                        "library.access", "\(shown) is open to others (mode \(String(status.mode, radix: 8))).",
                        todo: "Run `chmod 0700 \(shown)`."))
            }
            var elsewhere: [String] = status.stamp.device == place.status.stamp.device ? [] : [shown]
            try place.folder.forEachEntry { (name, kind) throws(Errno) in
                if kind == .directory, name.bytes.first != UInt8(ascii: "."),
                    try place.folder.status(of: name).stamp.device != place.status.stamp.device
                {
                    elsewhere.append(SafeText.of(place.path / name))
                }
                return elsewhere.count < 5
            }
            if !elsewhere.isEmpty {
                add(
                    .fault(
                        "library.filesystem",
                        "\(elsewhere.joined(separator: ", ")) is on another filesystem than"
                            + " \(SafeText.of(place.path)): no photo can be renamed from staging to there.",
                        todo: "Let all of the library be one filesystem, and one subvolume."))
            }
        } catch .noEntry {
            // Made by the service when it first imports; a missing marker was told.
        } catch {
            add(.unknown("library.filesystem", "\(shown) could not be looked at: \(error)."))
        }
    }

    // MARK: Room

    private mutating func checkSpace(_ place: borrowing Place, _ settings: LibrarySettings) {
        add(
            Figures.space(
                "library.space", available: place.filesystem.availableBytes, total: place.filesystem.totalBytes,
                reserve: settings.reserveFree.bytes))
        if let inodes = place.inodes {
            add(Figures.inodes("library.inodes", available: inodes.available, total: inodes.total))
        } else {
            add(.unknown("library.inodes", "Free inodes could not be asked."))
        }
    }

    // MARK: Filesystem

    private mutating func checkFilesystem(_ place: borrowing Place) {
        let check = "library.filesystem"
        let type = place.filesystem.typeName
        if place.filesystem.isReadOnly {
            add(
                .fault(
                    check, "The library is mounted read-only (\(type)).",
                    todo:
                        "Look why with `dmesg`: a filesystem with errors does that. Then remount it: mount -o remount,rw"
                        + " \(SafeText.of(place.path))"))
        }
        if place.filesystem.isRemote {
            add(
                .warning(
                    check,
                    "The library lies on a network filesystem or one of user space (\(type)): that a photo is on the"
                        + " medium is for the server to keep.",
                    todo: "Put the library on a local disk, or export it with sync."))
        } else if ["tmpfs", "ramfs"].contains(type) {
            add(
                .warning(
                    check, "The library lies in memory (\(type)): a restart of the machine loses it.",
                    todo: "Put the library on a disk."))
        } else {
            add(.ok(check, "The library lies on a local filesystem (\(type))."))
        }
        do throws(Errno) {
            if try place.folder.contains(LibraryMarker.folder), try place.folder.ignoresCase(of: LibraryMarker.folder) {
                add(
                    .warning(
                        check, "The filesystem takes IMG_1.JPG and img_1.jpg for the same name.",
                        todo: "Nothing is overwritten, one of them gets another name; a Linux filesystem keeps both."))
            }
        } catch {
            add(.unknown(check, "Whether names differ by case could not be asked: \(error)."))
        }
    }

    /// What copying, reading back and committing can use; all of them have a way to do without.
    private mutating func checkAbilities(_ place: borrowing Place) {
        let check = "library.abilities"
        do throws(Errno) {
            let probe = try place.folder.probe()
            let sharing =
                probe.sharing == nil ? "copies share bytes (reflink)" : "copies are written in full (no reflink)"
            if let errno = probe.directReading {
                add(
                    .warning(
                        check,
                        "Files cannot be read past the page cache: \(errno). Reading back can only drop their pages.",
                        todo: "A filesystem with O_DIRECT makes sure of what is on the medium: ext4, XFS, btrfs."))
            } else {
                add(.ok(check, "Files can be read past the page cache; \(sharing)."))
            }
        } catch .notSupported {
            add(.unknown(check, "The filesystem knows no files without a name, so nothing was tried.", todo: ""))
        } catch .isDirectory {
            add(.unknown(check, "The filesystem knows no files without a name, so nothing was tried.", todo: ""))
        } catch {
            add(.unknown(check, "What the filesystem can do could not be tried: \(error)."))
        }
        let type = place.filesystem.typeName
        if Self.renamesWithoutReplacing.contains(type) {
            add(.ok("library.rename", "\(type) renames without replacing (RENAME_NOREPLACE)."))
        } else if ["nfs", "9p", "afs", "coda"].contains(type) {
            add(
                .ok("library.rename", "\(type) has no RENAME_NOREPLACE; a link and an unlink do the same in two steps.")
            )
        } else {
            add(
                .unknown(
                    "library.rename",
                    "Whether \(type) renames without replacing is not known; the service finds out, and can"
                        + " do without.", todo: ""))
        }
    }

    /// By name: to try it, a file would need one.
    private static let renamesWithoutReplacing: Set<String> = [
        "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "overlay", "bcachefs", "vfat", "exfat", "ntfs", "cifs", "smb", "udf",
        "hfsplus",
    ]
}
