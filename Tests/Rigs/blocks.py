#!/usr/bin/env python3
"""Cuts the power of real disks at moments of an import by the real daemon, mounts what they then hold, and looks.

    blocks.py ext4|xfs|btrfs [STATES] [SEED]    100 states without a number; the seed is printed, and repeats them as far as
                                                the daemon does the same again
    blocks.py faults [SEED]                     plants faults into the daemon, each of which has to show on each of the three

Every write that the filesystem sends to its disk, and every flush, is written down. A disk that loses its power holds what
was written before its last flush; of what came later it may hold nothing, what came first, what came last, any part of it,
or a write in part. Each such state is mounted, which lets the filesystem put itself in order: then no photo may be lost,
none stand in the library in part, the database has to be whole, and what was said to be imported has to be in it. Every
eighth state is given back to a real daemon, which has to bring all photos home. Library, state and drop folders lie on one
disk, or on two, which lose their power together.
"""
import collections, os, pathlib, pickle, random, subprocess, sys, tempfile, time

import apart
from daemon import Installation, Verdicts, here, programs, preloaded, variant
from promises import broken, digest, unfinished

filesystems = {
    # What mkfs takes so that the disk stays small, and mount so that nobody minds a copy.
    "ext4": (64, ["mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"], ""),
    "xfs": (300, ["mkfs.xfs", "-q", "-K"], ",nouuid"),
    "btrfs": (128, ["mkfs.btrfs", "-q", "-K"], ""),
}
layouts = {
    "one disk": {"library": "a", "state": "a", "drops": "a"},
    "sources on a second disk": {"library": "a", "state": "a", "drops": "b"},
    "library on a second disk": {"library": "b", "state": "a", "drops": "a"},
}
# Both keep their superblock where it is written over, at times on its own; torn in the middle, as a disk with small sectors
# may leave it, it is put right from a copy by what a system runs before it mounts, or by hand.
repairs = {"ext4": ["e2fsck", "-fy"], "btrfs": ["btrfs", "rescue", "super-recover", "-y"]}
modes = ("none", "first", "last", "some", "torn")
drops = {"keep": "", "move": 'after_import = "move"', "delete": 'after_import = "delete"'}
count = 12


def run(*words):
    subprocess.run([str(word) for word in words], check=True)


def make(fs, image):
    size, words, _ = filesystems[fs]
    with open(image, "wb") as file:
        file.truncate(size << 20)
    subprocess.run([*words, image], check=True, stdout=subprocess.DEVNULL)
    return image


def mount(fs, image, at):
    """A loop device goes as soon as its disk is unmounted. All of them may be taken, by others too."""
    words = ["mount", "-t", fs, "-o", "loop" + filesystems[fs][2], image, at]
    for _ in range(600):
        done = subprocess.run(words, capture_output=True, text=True)
        if "loop device" not in done.stderr:
            break
        time.sleep(0.1)
    if done.returncode:
        raise OSError(done.stderr.strip())


def mount_or_repair(fs, image, at, mode):
    """Whether it had to be repaired, which only a torn write excuses."""
    try:
        mount(fs, image, at)
        return False
    except OSError:
        if fs not in repairs or mode != "torn":
            raise
    subprocess.run([*repairs[fs], image], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    mount(fs, image, at)
    return True


class Disk:
    """What one disk holds for certain, and what was written to it since its last flush."""

    def __init__(self, image):
        self.image, self.later = image, []

    def apply(self, what, *rest):
        if what == "write":
            self.later.append(rest)
        elif what == "flush":
            self.write(self.image, self.later)
            self.later = []

    @staticmethod
    def write(image, writes):
        with open(image, "r+b", buffering=0) as file:
            for place, data in writes:
                os.pwrite(file.fileno(), data, place)

    def cut(self, mode, dice, to):
        """A copy of the disk as it may be found after its power was cut now."""
        at = dice.randint(0, len(self.later))
        kept = {
            "none": [], "first": self.later[:at], "last": self.later[at:],
            "some": [write for write in self.later if dice.random() < 0.5], "torn": self.later[:at],
        }[mode]
        if mode == "torn" and kept:
            place, data = kept[-1]
            kept[-1] = (place, data[:512 * dice.randrange(len(data) // 512 + 1)])
        run("cp", "--sparse=always", self.image, to)
        self.write(to, kept)


class Recording:
    """The daemon imports `count` photos, and all that its disks are told is written down."""

    def __init__(self, fs, layout, seed, environment={}):
        self.fs, self.layout = fs, layouts[layout]
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="photospool-blocks-"))
        self.names = sorted(set(self.layout.values()))
        for folder in ("images", "certain", "disks", "cut", *self.names):
            (self.work / folder).mkdir()
        for name in self.names:
            make(fs, self.work / "images" / name)
            run("cp", "--sparse=always", self.work / "images" / name, self.work / "certain" / name)
        self.disks = {name: Disk(self.work / "certain" / name) for name in self.names}
        self.photos = {}
        recorder = subprocess.Popen(
            ["/usr/bin/python3", here / "disks.py", self.work / "images", self.work / "disks", self.work / "log"])
        try:
            end = time.monotonic() + 60
            while not os.path.ismount(self.work / "disks"):
                if time.monotonic() > end or recorder.poll() is not None:
                    sys.exit("the recorder does not start: it needs /dev/fuse and python3-fusepy")
                time.sleep(0.02)
            for name in self.names:
                mount(fs, self.work / "disks" / name, self.work / name)
            try:
                self.record(seed, environment)
            finally:
                for name in self.names:
                    run("umount", self.work / name)
        finally:
            run("umount", self.work / "disks")
            recorder.wait(60)
        with open(self.work / "log", "rb") as file:
            self.log = []
            while file.peek(1):
                self.log.append(pickle.load(file))
        self.start, self.end = self.log.index(("mark", "start")), self.log.index(("mark", "end"))

    def record(self, seed, environment):
        place = lambda name: self.work / self.layout.get(name, self.layout["drops"]) / name
        self.installation = Installation(
            drops, base=self.work, settle="10ms", more='[preview]\nmax_size = 64\n[import]\nsweep_after = "1s"\n',
            places={name: place(name) for name in ("library", "state", *drops)})
        for number in range(count):
            drop = list(drops)[number % len(drops)]
            path = self.installation.drops[drop] / f"IMG_{number:04}.JPG"
            path.write_bytes(variant(number, f"photo {number} of {seed}"))
            self.photos[digest(path)] = path.name
        for name in self.names:
            run("sync", "-f", self.work / name)
        self.mark("start")
        daemon = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **environment})
        lines = []
        for line in daemon.stderr:
            lines.append(line)
            if "Imported." in line:
                # It is said after it is durable; so whatever is marked here has been promised.
                self.mark("imported " + line.split("PATH=")[1].strip())
        if code := daemon.wait():
            sys.exit(f"the recorded import ended with {code}:\n" + "".join(lines[-20:]))
        self.mark("end")
        previews = self.installation.library / ".photospool/previews"
        self.previews = {digest(path) for path in previews.rglob("*.jpg")}
        if problems := [*unfinished(self.installation, self.photos)]:
            sys.exit(f"the recorded import left: {problems}")

    def mark(self, text):
        os.setxattr(self.work / "disks", "user.mark", text.encode())

    def command(self):
        return [programs / "photospoold", "--config", self.installation.folder / "photospool.toml",
                "--state-dir", self.installation.state, "--once"]

    def moments(self, number, dice):
        """Half of them where much is under way: right before a flush, or right after a promise."""
        hot = [at + (what[0] == "mark") for at, what in enumerate(self.log)
               if self.start < at < self.end and what[0] in ("flush", "mark")]
        return sorted(dice.choice(hot) if dice.random() < 0.5 else dice.randint(self.start + 1, self.end)
                      for _ in range(number))

    def recover(self):
        """Lets the real daemon start on what is mounted and finish: what is wrong then."""
        for _ in range(3):
            ended = subprocess.run(self.command(), capture_output=True, text=True, timeout=300,
                                   env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
            if ended.returncode == 0:
                break
        else:
            yield f"recovery ended with {ended.returncode}: {ended.stderr[-600:]}"
        yield from unfinished(self.installation, self.photos)
        for path in self.installation.drops["delete"].glob("*.JPG"):
            yield f"{path} was not deleted"
        for path in self.installation.drops["move"].glob("*.JPG"):
            yield f"{path} was not moved"


def examine(recording, number, dice, recovering=True):
    """`number` states: (how many disks had to be repaired, how many states were recovered, what was wrong, {kind: states in
    which it was})."""
    at, repaired, recovered, promised, found, kinds = 0, 0, 0, [], [], collections.Counter()
    for looked, point in enumerate(recording.moments(number, dice), 1):
        for what, *rest in recording.log[at:point]:
            if what == "mark":
                promised += [rest[0][9:]] if rest[0].startswith("imported ") else []
            else:
                recording.disks[rest[0]].apply(what, *rest[1:])
        at, mounted = point, []
        # Disks that lose their power together lose different things.
        mode = {name: dice.choice(modes) for name in recording.names}
        where = f"operation {point - recording.start} of {recording.end - recording.start}, " + ", ".join(mode.values())
        try:
            for name in recording.names:
                # Another file each time, for a loop device may hold on to the one before for a moment.
                image = recording.work / "cut" / f"{name}{looked}"
                recording.disks[name].cut(mode[name], dice, image)
                repaired += mount_or_repair(recording.fs, image, recording.work / name, mode[name])
                mounted.append(image)
            faults = [*broken(recording.installation, recording.photos, promised, recording.previews)]
            if recovering and not faults and looked % 8 == 0:
                recovered += 1
                faults = [f"UNFINISHED {fault}" for fault in recording.recover()]
        except OSError as error:
            faults = [f"DAMAGED disk: {error}"]
        finally:
            for name, image in zip(recording.names, mounted):
                run("umount", recording.work / name)
            for image in (recording.work / "cut").iterdir():
                image.unlink()
        found += [f"{fault} ({where})" for fault in faults]
        kinds.update({fault.split()[0] for fault in faults})
    return repaired, recovered, found, kinds


def cut(fs, states, seed, verdicts):
    print(f"{fs}: {states} states, seed {seed}", flush=True)
    mended, homes, kinds = 0, 0, collections.Counter()
    for number, layout in enumerate(layouts):
        began = time.monotonic()
        recording = Recording(fs, layout, seed)
        share = states * (number + 1) // len(layouts) - states * number // len(layouts)
        repaired, recovered, found, bad = examine(recording, share, random.Random(f"{seed} {layout}"))
        mended, homes, kinds = mended + repaired, homes + recovered, kinds + bad
        count = collections.Counter(what for what, *_ in recording.log[recording.start:recording.end])
        verdicts(f"{fs}, {layout}: {share} states of {count['write']} writes and {count['flush']} flushes, {recovered} of "
                 f"them recovered ({time.monotonic() - began:.0f} s)", found)
    counts = ", ".join(f"{kind.lower()} {kinds[kind]}" for kind in (
        "LOST", "PARTIAL", "FORGOTTEN", "FALSE", "DAMAGED", "UNFINISHED"))
    print(f"{fs}: {states} states, {counts}, recovered {homes}, disks repaired {mended}")


# What a daemon would do that forgets to make something durable, and how it shows.
planted = {
    "files cache": ("no fsync of the copies, and none is read back from the disk", {"LOST", "PARTIAL"}),
    "wal": ("no fsync of the write-ahead log (synchronous = NORMAL)", {"FORGOTTEN"}),
}


def plant(seed, verdicts):
    print(f"seed {seed}", flush=True)
    with preloaded("forget.c") as library:
        for fs in filesystems:
            for fault, (words, expected) in planted.items():
                recording = Recording(fs, "sources on a second disk", seed, {"LD_PRELOAD": library, "FORGET": fault})
                *_, kinds = examine(recording, 40, random.Random(f"{seed} {fs} {fault}"), recovering=False)
                seen = ", ".join(f"{kind.lower()} in {number}" for kind, number in kinds.items())
                verdicts(f"{fs}, {words}: {seen or 'nothing'} of 40 states",
                         [] if expected <= set(kinds) else ["not one fault of it was seen"])


packages = {"mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs", "mkfs.btrfs": "btrfs-progs"}


def check(what, wanted):
    """Says aloud that they are skipped where there can be no such disks."""
    apart.needs(what, {**{f"mkfs.{fs}": packages[f"mkfs.{fs}"] for fs in wanted}, "losetup": "mount", "cc": "gcc"})
    if not os.path.exists("/dev/fuse") or subprocess.run(["/usr/bin/python3", "-c", "import fusepy"]).returncode:
        apart.skip(what, "needs /dev/fuse and python3-fusepy")
    if subprocess.run(["losetup", "--find"], capture_output=True).returncode:
        apart.skip(what, "needs loop devices")
    for fs in wanted:
        with tempfile.TemporaryDirectory() as folder:
            image = make(fs, f"{folder}/image")
            try:
                mount(fs, image, folder)
            except OSError as error:
                apart.skip(what, str(error))
            run("umount", folder)


def main():
    names = {"faults": [*filesystems], **{fs: [fs] for fs in filesystems}}
    if not 2 <= len(sys.argv) <= 4 or sys.argv[1] not in names:
        sys.exit(__doc__)
    what, *numbers = sys.argv[1], *map(int, sys.argv[2:])
    apart.go(f"power cuts of disks, {what}")
    check(f"power cuts of disks, {what}", names[what])
    verdicts = Verdicts()
    if what == "faults":
        plant(*(numbers or [random.randrange(1 << 32)]), verdicts)
    else:
        states, seed, *_ = *numbers, *[100, random.randrange(1 << 32)][len(numbers):]
        cut(what, states, seed, verdicts)
    return verdicts.end()


if __name__ == "__main__":
    sys.exit(main())
