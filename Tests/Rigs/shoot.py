"""A small import to be disturbed, and what has to hold in the middle of it and at its end, whatever happened.

Four files in a drop folder: a photo with a sidecar, another photo, and the first one once more. On a filesystem in memory,
for a disturbed import is repeated some thousand times.
"""
import contextlib, hashlib, os, pathlib, shutil, sqlite3, subprocess, tempfile

from daemon import Installation, database_files

base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# What LD_PRELOAD says already (a sanitizer's helper) stays.
others = os.environ.get("LD_PRELOAD", "")


def picture():
    """A whole JPEG of some 1 KB."""
    with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
        subprocess.run(
            ["convert", "-seed", "1", "-size", "64x48", "plasma:fractal", "-quality", "82", file.name], check=True)
        return pathlib.Path(file.name).read_bytes()


settings = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"></x:xmpmeta>'


def taken_at(photo, time):
    """The JPEG with an XMP packet (APP1) that says when it was taken."""
    packet = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description exif:DateTimeOriginal="%s"/></x:xmpmeta>' % time
    segment = b"http://ns.adobe.com/xap/1.0/\0" + packet
    return photo[:2] + b"\xff\xe1" + (len(segment) + 2).to_bytes(2, "big") + segment + photo[2:]


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Shoot:
    photo = None

    def __init__(self, after_import, template=None, settle="10ms", more=""):
        """`template`: an installation whose daemon has run before, to begin where it left off."""
        self.after_import = after_import
        self.installation = Installation(
            {"drop": f'after_import = "{after_import}"\nrescan_interval = "10s"'}, base=base, settle=settle,
            more=f'[preview]\nmax_size = 64\n[import]\nworkers = 2\nsweep_after = "1s"\n{more}')
        self.drop = self.installation.drops["drop"]
        self.library, self.state = self.installation.library, self.installation.state
        if template:
            for name in ("library", "state"):
                shutil.copytree(template / name, self.installation.folder / name, dirs_exist_ok=True)
        Shoot.photo = Shoot.photo or picture()
        self.sources = self.content()
        self.known = {sha256(data) for data in self.sources.values()}

    jobs = 3

    def content(self):
        return {
            "IMG_0001.JPG": self.photo, "IMG_0001.XMP": settings, "IMG_0002.JPG": self.photo + b"another",
            "twice/IMG_0001.JPG": self.photo}

    def place(self):
        for name, data in self.sources.items():
            path = self.drop / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)

    @property
    def everywhere(self):
        """For rules: all that the daemon writes to."""
        return ",".join(map(str, (self.library, self.drop, self.state)))

    def environment(self, library, rules=(), **more):
        variables = {name: str(value) for name, value in more.items()}
        return {"LD_PRELOAD": f"{library}:{others}".rstrip(":"), "FAULTS": ";".join(rules), **variables}

    # MARK: Looking

    @staticmethod
    def files(folder):
        """{path below: bytes}; what is being renamed or removed at this moment may be missing."""
        found = {}
        for top, _, names in os.walk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    path = pathlib.Path(top, name)
                    found[str(path.relative_to(folder))] = path.read_bytes()
        return found

    def stored(self):
        """What a person sees in the library."""
        return {path: data for path, data in self.files(self.library).items() if not path.startswith(".photospool/")}

    def refused(self):
        """Originals and previews whose sync or close failed, by the mark of faultlib.c: the disk need not hold them."""
        previews = (self.library / ".photospool/previews").rglob("*.jpg")
        for path in (*self.installation.visible(), *previews):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime == 1:
                    yield path.relative_to(self.library)

    def journal(self):
        return b"".join(self.files(self.library / ".photospool/journal").values()).decode(errors="replace")

    def database(self):
        """A copy of the state's database, opened; None while there is none. The daemon may be dead, not alive."""
        copy = self.installation.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for name in database_files:
            if (self.state / name).exists():
                shutil.copyfile(self.state / name, copy / name)
        if not (copy / "spool.db").exists() or (copy / "spool.db").stat().st_size == 0:
            return None
        return sqlite3.connect(copy / "spool.db")

    # MARK: What has to hold

    def promises(self):
        """At any moment: nothing partial is seen, nothing is lost, nothing removed without its original and its line."""
        dropped = self.files(self.drop)  # before the library: what moves on meanwhile is seen twice, not never
        here = {sha256(data) for data in dropped.values()}
        stored = self.stored()
        kept = {sha256(data) for data in stored.values()}
        yield from (
            f"PARTIAL {path}: {len(data)} bytes under a final name" for path, data in stored.items()
            if sha256(data) not in self.known)
        yield from (f"BELIEVED {path}, although its sync or close failed" for path in self.refused())
        journal = self.journal()
        for name, data in self.sources.items():
            if sha256(data) not in here | kept:
                yield f"LOST {name}"
            if dropped.get(name) != data:
                if sha256(data) not in kept:
                    yield f"REMOVED {name} without an original in the library"
                if self.after_import == "keep" or f'"path":"{self.drop}/{name}"' not in journal:
                    yield f"REMOVED {name} without a line in the journal"

    def catalog(self):
        """Of a daemon that is dead: the database is whole, and what it says is so."""
        database = self.database()
        if not database:
            return
        with contextlib.closing(database):
            checks = [row[0] for row in database.execute("PRAGMA integrity_check")]
            if checks != ["ok"]:
                yield f"DAMAGED database: {checks}"
                return
            if not database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'resource'").fetchone():
                return
            for path, digest in database.execute("SELECT path, sha256 FROM resource"):
                path = self.library / os.fsdecode(path)
                if not path.is_file() or sha256(path.read_bytes()) != digest.hex():
                    yield f"FALSE {path} is in the catalog, and not so in the library"
            for path, in database.execute("SELECT preview_path FROM asset WHERE preview_path IS NOT NULL"):
                path = self.library / os.fsdecode(path)
                if not path.is_file() or not path.read_bytes().endswith(b"\xff\xd9"):
                    yield f"FALSE preview {path}"

    def end(self, may_be_kept=False):
        """Of a daemon that has ended: each photo once, with its preview and its row; nothing else.

        `may_be_kept`: a drop folder that refused its source keeps it, and its job says so.
        """
        yield from self.promises()
        yield from self.catalog()
        stored = [sha256(data) for data in self.stored().values()]
        yield from (f"LOST {digest} is not in the library" for digest in self.known - set(stored))
        if len(stored) > len(set(stored)):
            yield f"TWICE {len(stored) - len(set(stored))} in the library"
        yield from (f"LEFT {path}" for path in self.installation.left_over())
        database = self.database()
        if not database:
            yield "there is no database"
            return
        with contextlib.closing(database):
            jobs = database.execute("SELECT state, disposition, disposition_code FROM job").fetchall()
            resources, = database.execute("SELECT count(*) FROM resource").fetchone()
            previews = database.execute("SELECT preview_state FROM asset").fetchall()
        yield from (f"a job is {state}" for state, *_ in jobs if state not in ("imported", "duplicate"))
        if len(jobs) != self.jobs or resources != 3:
            yield f"{len(jobs)} jobs, {resources} files in the catalog"
        if [state for state, in previews] != ["ok", "ok"]:
            yield f"previews: {previews}"
        if len(list((self.library / ".photospool/previews").rglob("*.jpg"))) != 2:
            yield "not two previews in the library"
        done = {"keep": "keep", "move": "moved", "delete": "deleted"}[self.after_import]
        kept = [code for _, disposition, code in jobs if disposition == "kept"]
        for _, disposition, code in jobs:
            if disposition != done and not (may_be_kept and disposition == "kept" and code == "E_DISPOSITION"):
                yield f"a source is {disposition} ({code})"
        dropped = self.files(self.drop)
        moved = {f".imported/{name}": data for name, data in self.sources.items()}
        wanted = {"keep": self.sources, "move": moved, "delete": {}}[self.after_import]
        if not kept and dropped != wanted:
            yield f"in the drop folder: {sorted(dropped)}"

    def remove(self):
        self.installation.remove()


class Parted(Shoot):
    """Files of one name that are two shots, by the times that they tell: one group, parted, and two imports."""
    jobs = 2

    def content(self):
        return {
            "IMG_0001.JPG": taken_at(self.photo, b"2026-05-17T09:04:31"),
            "IMG_0001.JPEG": taken_at(self.photo, b"2026-05-17T18:00:00"), "IMG_0001.JPEG.xmp": settings}
