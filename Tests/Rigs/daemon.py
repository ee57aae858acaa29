"""A photospool of its own in a temporary folder, and the real daemon on it: what the rigs in Python share."""
import contextlib, csv, hashlib, http.client, json, os, pathlib, shutil, signal, socket, subprocess, tempfile, time

here = pathlib.Path(__file__).resolve().parent
programs = pathlib.Path(os.environ.get("PHOTOSPOOL_PROGRAMS", here.parent.parent / ".build/release"))
# What makes the state's database out of a disk that died: SQLite writes its first page under a rollback journal.
database_files = ("spool.db", "spool.db-journal", "spool.db-wal")


def photos(kinds=("jpeg", "jpeg-orientation", "heic", "avif", "png")):
    """Real photos that can be imported and shown: the corpus, when there is one, else the demo's samples."""
    corpus = pathlib.Path(os.environ.get("PHOTOSPOOL_CORPUS", here.parent.parent.parent / "shared/corpus"))
    manifest = corpus / "MANIFEST.tsv"
    if not manifest.exists():
        print("no corpus: with the demo's samples only")
        return sorted(path for path in (here.parent / "Demo/samples").iterdir() if path.name != "IMG_0004.JPG")
    with open(manifest, newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    sound = [row["path"] for row in rows if row["class"] == "import+preview" and row["path"].split("/")[0] in kinds]
    return [corpus / path for path in sound if (corpus / path).exists()]


def variant(number, text):
    """One of the demo's photos with a comment of its own behind the start marker: another file, the same picture."""
    data = (here.parent / "Demo/samples" / ("IMG_0001.JPG", "IMG_0002.JPG")[number % 2]).read_bytes()
    comment = text.encode()
    return data[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + data[2:]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def preloaded(source):
    """The path of a library made of `source`, to be loaded into the daemon; LD_PRELOAD knows no path with a space in it."""
    base = "/dev/shm" if os.path.isdir("/dev/shm") else "/tmp"
    with tempfile.TemporaryDirectory(prefix="photospool-rig-", dir=base) as folder:
        library = pathlib.Path(folder, source).with_suffix(".so")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, here / source, "-ldl"], check=True)
        yield str(library)


class Unanswered(Exception):
    """The daemon is not there, or not yet."""


class Installation:
    programs = programs

    def __init__(self, drops, more="", base=None, settle="100ms", places={}):
        """`drops` is {name: further lines of its table}; `base` a folder for all of it in place of the temporary one;
        `places` says of library, state or a drop where else it lies. What is there already stays as it is."""
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="photospool-rig-", dir=base))
        self.library, self.state, *rest = (
            pathlib.Path(places.get(name, self.folder / name)) for name in ("library", "state", *drops))
        self.drops = dict(zip(drops, rest))
        for folder in (self.library, self.state, *rest):
            folder.mkdir(mode=0o750, exist_ok=True)
        tables = "".join(
            f'[[drop]]\nname = "{name}"\npath = "{self.drops[name]}"\nsettle = "{settle}"\ngroup_wait = "{settle}"\n{lines}\n'
            for name, lines in drops.items())
        (self.folder / "photospool.toml").write_text(
            f'[library]\npath = "{self.library}"\nreserve_free = "0"\n{tables}'
            f'[control]\nsocket = "{self.folder}/socket"\n{more}')
        self.daemon = None

    def start(self, environment=None):
        with open(self.folder / "log", "ab") as log:
            self.daemon = subprocess.Popen(
                [self.programs / "photospoold", "--config", self.folder / "photospool.toml", "--state-dir", self.state],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **(environment or {})})

    def once(self, environment=None, **more):
        """Runs the daemon with --once to its end; the exit status, -9 when it was killed."""
        with open(self.folder / "log", "ab") as log:
            return subprocess.run(
                [self.programs / "photospoold", "--config", self.folder / "photospool.toml", "--state-dir", self.state,
                 "--once"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=300,
                env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **(environment or {})}, **more).returncode

    def kill(self):
        self.daemon.kill()
        self.daemon.wait()

    def stop(self):
        """SIGTERM; the exit status."""
        self.daemon.send_signal(signal.SIGTERM)
        return self.daemon.wait(60)

    def get(self, target):
        return self.ask("GET", target)

    def post(self, target):
        return self.ask("POST", target)

    def ask(self, method, target):
        connection = http.client.HTTPConnection("localhost", timeout=20)
        try:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(20)
            connection.sock.connect(str(self.folder / "socket"))
            connection.request(method, target)
            reply = connection.getresponse()
            body = reply.read()
        except OSError as error:
            raise Unanswered(str(error)) from error
        finally:
            connection.close()
        if not 200 <= reply.status < 300:
            raise RuntimeError(f"{method} {target}: {reply.status} {body[:200]!r}")
        return json.loads(body) if body else None

    def every(self, target):
        items, after = [], None
        while True:
            page = self.get(f"{target}?limit=200" + (f"&after={after}" if after else ""))
            items += page["items"]
            after = page.get("next")
            if not after:
                return items

    def wait_until_idle(self, limit):
        """Idle three times over more than the settle time; False when that takes longer than `limit` seconds."""
        calm, end = 0, time.monotonic() + limit
        while calm < 3:
            if time.monotonic() > end or self.daemon.poll() is not None:
                return False
            time.sleep(0.08)
            try:
                status = self.get("/v1/status")
                calm = calm + 1 if status["idle"] and status["state"] == "running" else 0
            except Unanswered:
                calm = 0
        return True

    def visible(self):
        """The files that a person sees in the library."""
        for top, folders, names in os.walk(self.library):
            if top == str(self.library):
                folders[:] = [name for name in folders if name != ".photospool"]
            yield from (pathlib.Path(top, name) for name in names)

    def left_over(self):
        """What nobody needs any more: in staging, and claimed in drop folders."""
        for folder in (self.library / ".photospool/staging", *(d / ".photospool/claim" for d in self.drops.values())):
            if folder.is_dir():
                yield from folder.iterdir()

    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def remove(self):
        if self.daemon and self.daemon.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Verdicts:
    """One line for each, then `N passed, N failed`."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, sentence, faults):
        faults = list(faults)
        print(("FAULT  " if faults else "ok     ") + sentence, flush=True)
        for fault in faults[:20]:
            print(f"         {fault}", flush=True)
        if faults:
            self.failed += 1
        else:
            self.passed += 1

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
