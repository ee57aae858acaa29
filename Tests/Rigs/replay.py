"""What a disk may hold of the calls that recorder.py wrote down, by the least that POSIX promises."""
import collections, hashlib, os


class File:
    """The bytes that are certain, and the changes since."""
    __slots__ = ("certain", "changes", "sums")

    def __init__(self):
        self.certain, self.changes, self.sums = b"", [], {}

    @staticmethod
    def changed(bytes, changes):
        data = bytearray(bytes)
        for at, what in changes:
            if at is None:
                data = data[:what].ljust(what, b"\0")
            else:
                if len(data) < at:
                    data = data.ljust(at, b"\0")
                data[at:at + len(what)] = what
        return data

    def sync(self):
        if self.changes:
            self.certain, self.changes = self.changed(self.certain, self.changes), []
        self.sums.clear()

    def content(self, mode, dice):
        if not self.changes or mode in ("none", "names"):
            return self.certain
        if mode == "all":
            return self.changed(self.certain, self.changes)
        kept = [change for change in self.changes if dice.random() < 0.5]
        data = self.changed(self.certain, kept)
        if mode == "sizes":
            size = max((at + len(what) for at, what in self.changes if at is not None), default=0)
            data = data.ljust(size, b"\0")
        return data

    def digest(self, data):
        """Of certain bytes only once."""
        if data is not self.certain:
            return hashlib.sha256(data).hexdigest()
        if "sum" not in self.sums:
            self.sums["sum"] = hashlib.sha256(data).hexdigest()
        return self.sums["sum"]


class Replay:
    def __init__(self):
        self.files = collections.defaultdict(File)
        self.folders = {"/": {}}  # names that are certain
        self.pending = []  # groups of changes of names, each whole or not at all, in their order

    def apply(self, call):
        what, *rest = call
        if what in ("mark", "read"):
            return
        if what == "write":
            self.files[rest[0]].changes.append((rest[1], rest[2]))
        elif what == "cut":
            self.files[rest[0]].changes.append((None, rest[1]))
        elif what == "fsync":
            self.files[rest[0]].sync()
        elif what == "name":
            self.pending.append([(*os.path.split(rest[0]), rest[1])])
        elif what == "unname":
            self.pending.append([(*os.path.split(rest[0]), None)])
        elif what == "rename":
            assert rest[2] != "folder", "the daemon renames no folder"
            self.pending.append([(*os.path.split(rest[1]), rest[2]), (*os.path.split(rest[0]), None)])
        elif what == "fsync names":
            later = []
            for group in self.pending:
                if any(folder == rest[0] for folder, _, _ in group):
                    self.commit(self.folders, group)
                else:
                    later.append(group)
            self.pending = later

    @staticmethod
    def commit(folders, group):
        for folder, name, value in group:
            names = folders.setdefault(folder, {})
            if value is None:
                names.pop(name, None)
            else:
                names[name] = value
                if value == "folder":
                    folders.setdefault(os.path.join(folder, name), {})

    def tree(self, mode, dice):
        """{path: (its file, its bytes, its number)} of one state; None for a folder."""
        folders = {path: dict(names) for path, names in self.folders.items()}
        for group in self.pending:
            if mode == "all" or mode in ("names", "some", "sizes") and dice.random() < 0.5:
                self.commit(folders, group)
        found, rest, seen = {}, ["/"], {}
        while rest:
            folder = rest.pop()
            for name, value in folders.get(folder, {}).items():
                path = os.path.join(folder, name)
                if value == "folder":
                    rest.append(path)
                    found[path] = None
                    continue
                file = self.files[value]
                if value not in seen:
                    seen[value] = (file, file.content(mode, dice), value)
                found[path] = seen[value]
        return found


class Readings:
    """What was read past the cache since it was made durable: a copy that was verified on the medium."""

    def __init__(self):
        self.pieces = collections.defaultdict(set)

    def apply(self, call, files):
        what, *rest = call
        if what == "read":
            self.pieces[rest[0]].add((rest[1], rest[2]))
        elif what in ("write", "cut") or what == "fsync" and files[rest[0]].changes:
            self.pieces.pop(rest[0], None)

    def cover(self, number, size):
        end = 0
        for offset, length in sorted(self.pieces.get(number, ())):
            if offset <= end:
                end = max(end, offset + length)
        return end >= size
