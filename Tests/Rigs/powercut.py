#!/usr/bin/env python3
"""Cuts the power at every moment of an import by the real daemon, and looks at what a disk may then hold.

    powercut.py [STATES] [SEED]     5400 states without a number; the seed is printed, and repeats them

What the disk may hold is worked out from every call the daemon made, by the least that POSIX promises: bytes are kept
from the fsync of their file on, a name from the fsync of a folder it stands in. What came after may be there or not: all
of it, none of it, the names alone, any part of it, or a size without its bytes. In each such state no photo may be lost,
none may stand in the library in part, the database has to be whole, and what it has once said imported it has to say
still. A part of the states is given back to a real daemon, which has to bring every photo home.

Before a source leaves its place, for a move or a deletion, its record has to be certain, in the database and in the
library's journal, and so has its original, which has to have been read back past the cache.
"""
import collections, hashlib, json, os, pathlib, pickle, random, shutil, sqlite3, subprocess, sys, tempfile, time

from daemon import Installation, Verdicts, database_files, here, programs, variant
from replay import Readings, Replay

arguments = sys.argv[1:] if __name__ == "__main__" else []  # planted.py takes parts of this
states = int(arguments[0]) if arguments else 5400
seed = int(arguments[1]) if len(arguments) > 1 else random.randrange(1 << 32)
recoveries = int(os.environ.get("PHOTOSPOOL_RECOVERIES", "20"))
count = 12
modes = ("none", "all", "names", "some", "sizes")


# MARK: An import, written down

class Recording:
    """The daemon imports `count` photos on a filesystem that writes every call down."""

    def __init__(self, after_import, environment=None, programs=programs):
        self.after_import, self.programs = after_import, programs
        work = pathlib.Path(tempfile.mkdtemp(prefix="photospool-cut-", dir="/dev/shm"))
        back, mount, log = work / "back", work / "mount", work / "log"
        back.mkdir()
        mount.mkdir()
        photos = (variant(number, f"photo {number} of {seed}") for number in range(count))
        self.photos = {hashlib.sha256(data).hexdigest(): data for data in photos}
        recorder = subprocess.Popen(["/usr/bin/python3", here / "recorder.py", back, mount, log])
        try:
            end = time.monotonic() + 60
            while not os.path.ismount(mount):
                if time.monotonic() > end or recorder.poll() is not None:
                    sys.exit("the recorder does not start: it needs /dev/fuse and python3-fusepy")
                time.sleep(0.02)
            self.run(mount, environment or {})
        finally:
            subprocess.run(["fusermount", "-u", "-z", mount], check=False)
            try:
                recorder.wait(5)
            except subprocess.TimeoutExpired:
                # Whoever took the mount along into a namespace of its own keeps it alive.
                recorder.terminate()
                recorder.wait(20)
        self.calls = []
        with open(log, "rb") as file:
            while True:
                try:
                    self.calls.append(pickle.load(file))
                except EOFError:
                    break
        shutil.rmtree(work, ignore_errors=True)
        self.start = self.calls.index(("mark", "start"))

    def run(self, mount, environment):
        keys = "" if self.after_import == "keep" else f'after_import = "{self.after_import}"'
        installation = Installation({"drop": keys}, base=mount, more="[preview]\nmax_size = 64\n")
        self.base = "/" + installation.folder.name
        self.installation = installation
        twice = installation.drops["drop"] / "twice"
        twice.mkdir()
        self.sources = {f"IMG_{number:04}.JPG": data for number, data in enumerate(self.photos.values())}
        self.sources["twice/IMG_0000.JPG"] = self.sources["IMG_0000.JPG"]
        for name, data in self.sources.items():
            with open(installation.drops["drop"] / name, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for folder in (twice, installation.drops["drop"], installation.library, installation.state, installation.folder, mount):
            handle = os.open(folder, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)
        os.setxattr(mount, "user.mark", b"start")
        daemon = subprocess.Popen(
            [self.programs / "photospoold", "--config", installation.folder / "photospool.toml", "--state-dir",
             installation.state, "--once"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **environment})
        lines = []
        for line in daemon.stderr:
            lines.append(line)
            if "Imported." in line:
                # It is said after it is durable; so whatever is marked here has been promised.
                os.setxattr(mount, "user.mark", b"imported " + line.split("PATH=")[1].strip().strip('"').encode())
        code = daemon.wait()
        if code != 0:
            sys.exit(f"the recorded import ended with {code}:\n" + "".join(lines[-20:]))
        visible = list(installation.visible())
        assert len(visible) == count, f"{len(visible)} photos in the library"
        self.previews = {
            hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (installation.library / ".photospool/previews").rglob("*.jpg")}
        assert len(self.previews) >= 1


# MARK: What must hold in every state

def database(tree, base, work):
    """What the state's database says in this state: (problem, imported {source name: digest}, open intents)."""
    parts = {name: tree[path][1] for name in database_files if tree.get(path := f"{base}/state/{name}")}
    if "spool.db" not in parts or not parts["spool.db"]:
        return None, {}, []
    for name in (*database_files, "spool.db-shm"):
        (work / name).unlink(missing_ok=True)
    for name, data in parts.items():
        (work / name).write_bytes(data)
    connection = sqlite3.connect(work / "spool.db")
    try:
        verdict = connection.execute("PRAGMA quick_check").fetchone()[0]
        if verdict != "ok":
            return f"the database is damaged: {verdict[:80]}", {}, []
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'job'").fetchone():
            return None, {}, []
        imported = {
            os.path.basename(os.fsdecode(path)): (digest.hex(), os.fsdecode(final)) for path, digest, final in
            connection.execute("SELECT source_path, sha256, path FROM resource")}
        intents = [
            json.loads(text) for (text,) in connection.execute("SELECT intent FROM job WHERE intent IS NOT NULL")]
        return None, imported, intents
    except sqlite3.DatabaseError as error:
        return f"the database cannot be read: {error}", {}, []
    finally:
        connection.close()


def faults(recording, tree, promised, work):
    base, photos = recording.base, recording.photos
    library, drop = f"{base}/library/", f"{base}/drop/"
    problem, imported, intents = database(tree, base, work)
    if problem:
        yield problem
        return
    safe, finals = set(), {}
    announced = {move["staged"] for intent in intents for move in intent["moves"]}
    for path, entry in tree.items():
        if entry is None:
            continue
        file, data, _ = entry
        if path.startswith(drop):
            safe.add(file.digest(data))
        elif path.startswith(library):
            inner = path[len(library):]
            if not inner.startswith(".photospool/"):
                digest = file.digest(data)
                finals[inner] = digest
                if digest in photos:
                    safe.add(digest)
                else:
                    yield f"PARTIAL {inner}: {len(data)} bytes under a final name"
            elif inner.startswith(".photospool/previews/") and file.digest(data) not in recording.previews:
                yield f"PARTIAL preview {inner}"
            elif inner in announced:
                safe.add(file.digest(data))
    for number, digest in enumerate(photos):
        if digest not in safe:
            yield f"LOST photo {number}"
    for name, (digest, final) in imported.items():
        if finals.get(final) != digest:
            yield f"FALSE {name} is in the catalog, and not in the library as {final}"
    for name in promised:
        if name not in imported:
            yield f"FORGOTTEN {name} was said to be imported"


def records(tree, base, work):
    """The sources of which this state says that they are about to go, in the database and in the library's journal: the
    digest that both name; None for a duplicate."""
    if database(tree, base, work)[0] or not (work / "spool.db").exists():
        return {}
    connection = sqlite3.connect(work / "spool.db")
    try:
        said = {(os.fsdecode(path), digest and digest.hex()) for path, digest in connection.execute(
            "SELECT path, sha256 FROM journal WHERE what IN ('delete', 'move') AND path IS NOT NULL")}
    except sqlite3.DatabaseError:
        return {}  # it does not know of a journal yet
    finally:
        connection.close()
    lines = set()
    for path, entry in tree.items():
        if entry and path.endswith(".jsonl"):
            for line in bytes(entry[1]).split(b"\n"):
                try:
                    line = json.loads(line)
                except ValueError:
                    continue  # torn
                if line["what"] in ("delete", "move"):
                    lines.add((line["path"], line.get("sha256")))
    return dict(said & lines)


def removals(recording, work):
    """What was certain before a source left its place, and again before it lost its last name in the drop folder:
    (how many left, of how many no record was certain, of how many no verified original, which)"""
    dice, replay, readings, names = random.Random(0), Replay(), Readings(), {}
    drop, library = f"{recording.base}/drop/", f"{recording.base}/library/"
    mount = str(recording.installation.folder.parent)
    gone, unrecorded, unverified = set(), set(), set()
    where = {}  # of a source's file: its place
    for call in recording.calls:
        leaving = None
        if call[0] == "name":
            names[call[1]] = call[2]
            if call[1].startswith(drop) and call[1][len(drop):] in recording.sources:
                where[call[2]] = call[1]
        elif call[0] == "rename":
            number = names[call[2]] = names.pop(call[1])
            leaving = call[1] if where.get(number) == call[1] else None
        elif call[0] == "unname":
            number = names.pop(call[1], None)
            is_last = number not in names.values()
            # From its own place (into the claim, by a link where there is no rename that replaces nothing), or for good.
            if number in where and (call[1] == where[number] or is_last):
                leaving = where[number]
            if is_last:
                where.pop(number, None)
        if leaving:
            gone.add(leaving)
            data = recording.sources[leaving[len(drop):]]
            tree = replay.tree("none", dice)
            originals = [
                entry[2] for path, entry in tree.items() if entry and path.startswith(library)
                and "/.photospool/" not in path and entry[1] == data]
            problem, imported, _ = database(tree, recording.base, work)
            said, sum = records(tree, recording.base, work), hashlib.sha256(data).hexdigest()
            # Of the two that are equal one is a duplicate, whose bytes are recorded with the other.
            if problem or mount + leaving not in said or said[mount + leaving] != sum and (
                    said[mount + leaving] or not leaving.endswith("IMG_0000.JPG")):
                unrecorded.add(leaving)
            is_listed = sum in {digest for digest, _ in imported.values()}
            if not is_listed or not any(readings.cover(number, len(data)) for number in originals):
                unverified.add(leaving)
        readings.apply(call, replay.files)
        replay.apply(call)
    return gone, unrecorded, unverified


def renumber(path, numbers):
    """An intent knows its files by inode, as a disk keeps them over a power cut; here they have others."""
    if not path.exists() or path.stat().st_size == 0:
        return
    connection = sqlite3.connect(path)
    try:
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'job'").fetchone():
            return
        for job, text in connection.execute("SELECT id, intent FROM job WHERE intent IS NOT NULL").fetchall():
            intent = json.loads(text)
            for move in intent["moves"]:
                if move["inode"] in numbers:
                    found = os.lstat(numbers[move["inode"]])
                    move["inode"], move["device"] = found.st_ino, found.st_dev
            connection.execute("UPDATE job SET intent = ? WHERE id = ?", (json.dumps(intent), job))
        connection.commit()
    finally:
        connection.close()


def recover(recording, tree):
    """Lets the real daemon start on this state and finish; every photo has to come home, once."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="photospool-recover-", dir="/dev/shm"))
    try:
        base = recording.base
        for folder in ("library", "state", "drop"):
            (work / folder).mkdir(mode=0o750)
        numbers = {}  # of a file when it was recorded: where it lies now
        for path, entry in sorted(tree.items()):
            inside = path[len(base) + 1:]
            if not path.startswith(base + "/") or inside.split("/")[0] not in ("library", "state", "drop"):
                continue
            if entry is None:
                (work / inside).mkdir(parents=True, exist_ok=True)
            elif entry[2] in numbers:
                os.link(numbers[entry[2]], work / inside)
            else:
                numbers[entry[2]] = work / inside
                (work / inside).write_bytes(entry[1])
        renumber(work / "state/spool.db", numbers)
        keys = "" if recording.after_import == "keep" else f'after_import = "{recording.after_import}"\n'
        (work / "c.toml").write_text(
            f'[library]\npath = "{work}/library"\nreserve_free = "0"\n[[drop]]\nname = "drop"\npath = "{work}/drop"\n'
            f'settle = "10ms"\ngroup_wait = "10ms"\n{keys}[preview]\nmax_size = 64\n[control]\nsocket = "{work}/socket"\n'
            f'[import]\nsweep_after = "1s"\n')
        for attempt in range(3):
            run = subprocess.run(
                [programs / "photospoold", "--config", work / "c.toml", "--state-dir", work / "state", "--once"],
                capture_output=True, text=True, timeout=300, env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
            if run.returncode == 0:
                break
        if run.returncode != 0:
            yield f"recovery ended with {run.returncode}: {run.stderr[-400:]}"
        found = collections.Counter(
            hashlib.sha256(path.read_bytes()).hexdigest() for path in (work / "library").rglob("*")
            if path.is_file() and ".photospool" not in path.parts)
        for number, digest in enumerate(recording.photos):
            if found[digest] != 1:
                yield f"photo {number} is in the library {found[digest]} times after recovery"
        for digest in found:
            if digest not in recording.photos:
                yield "something else is in the library after recovery"
        left = list((work / "library/.photospool/staging").iterdir())
        if left:
            yield f"{len(left)} left in staging after recovery"
    finally:
        shutil.rmtree(work, ignore_errors=True)


def is_possible():
    is_open = os.access("/dev/fuse", os.R_OK | os.W_OK)
    if is_open and subprocess.run(["/usr/bin/python3", "-c", "import fusepy"]).returncode == 0:
        return True
    print("skipped: power cuts (they need /dev/fuse and python3-fusepy)")
    return False


# MARK: The run

def examine(recording, number, dice, recoveries=recoveries):
    """`number` states over all moments and all modes: (how many, how many of them were recovered, what was wrong)."""
    calls, start = recording.calls, recording.start
    work = pathlib.Path(tempfile.mkdtemp(prefix="photospool-cut-db-", dir="/dev/shm"))
    points = len(calls) - start
    each = [points * step // max(1, number // len(modes)) + start for step in range(1, number // len(modes) + 1)]
    replay, at, found, looked = Replay(), 0, [], 0
    recovered = set(dice.sample(range(len(each)), min(recoveries, len(each))))
    promised = []
    for step, point in enumerate(each):
        for call in calls[at:point]:
            if call[0] == "mark" and call[1].startswith("imported "):
                promised.append(os.path.basename(call[1][9:]))
            replay.apply(call)
        at = point
        for mode in modes:
            tree = replay.tree(mode, dice)
            looked += 1
            found += [f"call {point - start} of {points}, {mode}: {fault}" for fault in
                      faults(recording, tree, promised, work)]
        if step in recovered:
            mode = dice.choice(modes)
            found += [f"call {point - start} of {points}, {mode}: {fault}" for fault in
                      recover(recording, replay.tree(mode, dice))]
    shutil.rmtree(work, ignore_errors=True)
    return looked, len(recovered), found


def main():
    if not is_possible():
        return 0
    verdicts = Verdicts()
    print(f"{states} states, seed {seed}", flush=True)
    for after_import in ("keep", "move", "delete"):
        began = time.monotonic()
        recording = Recording(after_import)
        looked, recovered, found = examine(recording, states // 3, random.Random(f"{seed} {after_import}"))
        if after_import != "keep":
            work = pathlib.Path(tempfile.mkdtemp(prefix="photospool-cut-db-", dir="/dev/shm"))
            gone, unrecorded, unverified = removals(recording, work)
            shutil.rmtree(work, ignore_errors=True)
            verdicts(
                f"{after_import}: removals: {len(gone)}, without record {len(unrecorded)}, without verified copy "
                f"{len(unverified)}", [
                    *(f"{path}: no certain record" for path in unrecorded),
                    *(f"{path}: no certain original that was read back" for path in unverified),
                    *[f"only {len(gone)} of {len(recording.sources)} were removed"] * (len(gone) < len(recording.sources))])
        calls, seconds = len(recording.calls) - recording.start, time.monotonic() - began
        verdicts(f"{after_import}: {looked} states of {calls} calls, {recovered} of them recovered ({seconds:.0f} s)", found)
    return verdicts.end()


if __name__ == "__main__":
    sys.exit(main())
