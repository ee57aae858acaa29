#!/usr/bin/env python3
"""Plants ten faults into the daemon, one after the other; each has to be caught by a rig, else the rigs prove nothing.

    planted.py [SEED]

Five are calls that do nothing (forget.c), before the daemon as it is. Five are patches (bugs/), applied to a copy of the
sources that is built in .build/planted; PLANTED names the one that is awake. What is caught with a fault must not be there
without it: a power cut and a bad disk are tried by powercut.py and flips.py, the others here, asleep.
"""
import contextlib, ctypes, errno, os, pathlib, platform, random, shutil, signal, struct, subprocess, sys, tempfile, time

import flips, powercut
from daemon import Installation, Verdicts, here, preloaded
from shoot import Shoot, base

seed = int(sys.argv[1]) if len(sys.argv) > 1 else random.randrange(1 << 32)
home = here.parent.parent


# MARK: The copy

def build():
    """The folder of the programs with all patches in them."""
    target = home / ".build/planted"
    with tempfile.TemporaryDirectory(prefix="photospool-planted-") as folder:
        fresh = pathlib.Path(folder, "source")
        fresh.mkdir()
        shutil.copyfile(home / "Package.swift", fresh / "Package.swift")
        for name in ("Sources", "Tests", "Benchmarks"):
            shutil.copytree(home / name, fresh / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copyfile(here / "bugs/Planted.swift", fresh / "Sources/Files/Planted.swift")
        for patch in sorted((here / "bugs").glob("*.patch")):
            subprocess.run(
                ["git", "apply", "-C1", patch], cwd=fresh, check=True, env={**os.environ, "GIT_CEILING_DIRECTORIES": folder})
        # Only what is another than last time is written, so that only that is built again.
        for path in (path for path in fresh.rglob("*") if path.is_file()):
            old = target / "source" / path.relative_to(fresh)
            if not old.is_file() or old.read_bytes() != path.read_bytes():
                old.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, old)
        for old in [path for path in (target / "source").rglob("*") if path.is_file()]:
            if not (fresh / old.relative_to(target / "source")).exists():
                old.unlink()
    swift = shutil.which("swift") or "/opt/swift/usr/bin/swift"
    for product in ("photospoold", "photospool-decoder"):
        subprocess.run(
            [swift, "build", "--package-path", target / "source", "--scratch-path", target, "--product", product,
             "--disable-index-store", "-Xswiftc", "-gnone"],
            check=True, stdout=subprocess.DEVNULL, env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
    return target / "debug"


# MARK: What catches them: each yields what it saw

def cut(environment, programs):
    """powercut.py: what a disk may hold at any moment, and what was certain before a source went."""
    recording = powercut.Recording("delete", environment, programs)
    yield from powercut.examine(recording, 600, random.Random(seed), recoveries=0)[2]
    with tempfile.TemporaryDirectory(prefix="photospool-cut-db-", dir=base) as work:
        _, unrecorded, unverified = powercut.removals(recording, pathlib.Path(work))
    yield from (f"{path} went without a certain record" for path in unrecorded)
    yield from (f"{path} went without a verified original" for path in unverified)


def read_back(environment):
    """flips.py: a bit that turns over on the medium."""
    with preloaded("forget.c") as shim:
        _, wrong, gone, _ = flips.run(shim, environment, 20)
    yield from (f"{digest} is a wrong original" for digest in wrong)
    yield from (f"{digest} is gone" for digest in gone)


def refuse_pages(library, environment, programs):
    """A disk that refuses the pages of one file after the other, says so once, and knows nothing of it afterwards. Copies
    are not read back, so that only the answer of fsync(2) tells."""
    for number in range(1, 7):
        shoot = Shoot("keep", more='verify = "copy"\n')
        try:
            shoot.installation.programs = programs
            (shoot.drop / "IMG_0002.JPG").write_bytes(shoot.sources["IMG_0002.JPG"])
            staging = shoot.library / ".photospool/staging"
            shoot.installation.once(
                {**shoot.environment(library, [f"sync:EIO:{number}@{staging}"]), **environment})
            yield from (f"{path} stands in the library, although its sync failed" for path in shoot.refused())
        finally:
            shoot.remove()


def exchange(library, environment, programs):
    """Another photo takes the name of a source at the moment at which that is renamed or removed."""
    for call in ("rename", "unlink"):
        shoot = Shoot("delete")
        installation, name = shoot.installation, "IMG_0002.JPG"
        try:
            installation.programs = programs
            old, new = shoot.sources[name], shoot.photo + b"came later"
            (shoot.drop / name).write_bytes(old)
            installation.start({**shoot.environment(library, [f"{call}:STOP:1@{shoot.drop}"]), **environment})
            end = time.monotonic() + 60
            while time.monotonic() < end and (shoot.drop / name).exists():
                state = pathlib.Path(f"/proc/{installation.daemon.pid}/stat").read_text().rpartition(")")[2].split()[0]
                if state == "T":
                    break
                time.sleep(0.02)
            (installation.folder / "new").write_bytes(new)
            os.rename(installation.folder / "new", shoot.drop / name)
            installation.daemon.send_signal(signal.SIGCONT)
            installation.wait_until_idle(300)
            installation.stop()
            there = [*shoot.files(shoot.drop).values(), *shoot.stored().values()]
            for which, data in (("old", old), ("new", new)):
                if data not in there:
                    yield f"{call}: the {which} photo is lost"
        finally:
            shoot.remove()


def deny(*calls):
    """For a child before it is executed: these system calls say ENOSYS in it and all that it starts."""
    numbers = {"landlock_create_ruleset": 444, "seccomp": 317, "prctl": 157}
    if platform.machine() == "aarch64":
        numbers = {"landlock_create_ruleset": 444, "seccomp": 277, "prctl": 167}
    program = [(0x20, 0, 0, 0)]  # the number of the call; see seccomp(2)
    for call in calls:
        if call == "prctl":  # only to ask for seccomp, and the last to be looked at: its argument takes the number's place
            program += [(0x15, 0, 3, numbers[call]), (0x20, 0, 0, 16), (0x15, 0, 1, 22),
                        (0x06, 0, 0, 0x50000 | errno.EINVAL)]
        else:
            program += [(0x15, 0, 1, numbers[call]), (0x06, 0, 0, 0x50000 | errno.ENOSYS)]
    program += [(0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in program))
    filter = ctypes.create_string_buffer(struct.pack("@HP", len(program), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filter, 0, 0):
            os._exit(126)
    install.keeps = code, filter
    return install


def unlock(programs):
    """A kernel without landlock, and one without seccomp: nothing may be decoded there."""
    for calls in (("landlock_create_ruleset",), ("seccomp", "prctl")):
        shoot = Shoot("keep")
        try:
            shoot.installation.programs = programs
            shoot.place()
            shoot.installation.once(preexec_fn=deny(*calls))
            log = shoot.installation.log()
            if "E_DECODER_MISSING" not in log:
                yield f"without {calls[0]} nobody says that there is no decoder"
            yield from (f"without {calls[0]} there is {path}"
                        for path in (shoot.library / ".photospool/previews").rglob("*.jpg"))
        finally:
            shoot.remove()


def crash(library, environment, programs):
    """A file at which the daemon dies each time it reads it: it is given up, and the others are imported."""
    shoot = Shoot("keep")
    try:
        shoot.installation.programs = programs
        shoot.place()
        killer = shoot.drop / "IMG_0002.JPG"
        for _ in range(8):
            code = shoot.installation.once(
                {**shoot.environment(library, [f"read:CRASH:1+@{killer}"]), **environment})
            if code != -signal.SIGSEGV:
                break
        if code == -signal.SIGSEGV:
            yield "it still dies at its eighth start"
        else:
            with contextlib.closing(shoot.database()) as database:
                blamed = [os.fsdecode(path) for path, in database.execute(
                    "SELECT path FROM job JOIN job_file ON job_id = job.id WHERE problem_code = 'E_POISON'")]
            if blamed != [str(killer)]:
                yield f"blamed for it: {blamed}"
        if set(shoot.stored().values()) != {shoot.photo, shoot.sources["IMG_0001.XMP"]}:
            yield "the others are not imported"
    finally:
        shoot.remove()


# MARK: The run

def main():
    verdicts, caught, tried = Verdicts(), 0, 0
    print(f"seed {seed}", flush=True)

    def planted(words, seen, asleep=()):
        nonlocal caught, tried
        began = time.monotonic()
        seen, asleep = list(seen), list(asleep)
        tried += 1
        caught += bool(seen)
        example = f", as: {seen[0][:120]}" if seen else ""
        verdicts(f"{words}: seen {len(seen)} times{example} ({time.monotonic() - began:.0f} s)",
                 ["not one fault was seen"] * (not seen) + [f"without it, too: {fault}" for fault in asleep])

    began = time.monotonic()
    bugs = build()
    print(f"patched and built ({time.monotonic() - began:.0f} s)", flush=True)
    with preloaded("forget.c") as shim, preloaded("faultlib.c") as library:
        if powercut.is_possible():
            for name, words in (
                ("files", "no fsync of the copies"), ("folders", "no fsync of folders"),
                ("newfolders", "no fsync of the folder above a new one"),
                ("wal", "no fsync of the write-ahead log (synchronous = NORMAL)"),
            ):
                planted(words, cut({"LD_PRELOAD": shim, "FORGET": name}, Installation.programs))
            planted("a source is removed before the commit", cut({"PLANTED": "early"}, bugs))
        if flips.is_possible():
            planted("copies are verified from the cache", read_back({"FORGET": "cache"}))
        planted("a second fsync is believed", refuse_pages(library, {"PLANTED": "retry"}, bugs),
                refuse_pages(library, {}, bugs))
        planted("a source is removed by its name", exchange(library, {"PLANTED": "byname"}, bugs),
                exchange(library, {}, bugs))
        planted("the decoder works without its sandbox", unlock(bugs), unlock(Installation.programs))
        planted("attempts and crashes are not counted", crash(library, {"PLANTED": "uncounted"}, bugs),
                crash(library, {}, bugs))
    print(f"seeded bugs caught: {caught} of {tried}" + (f" ({10 - tried} could not be tried here)" if tried < 10 else ""))
    return verdicts.end()


if __name__ == "__main__":
    sys.exit(main())
