"""Measures photospool against what else makes previews and imports photos, in one run, and prints the ratios.

Ours and the peer take turns (A B A B), so that a machine whose speed drifts slows both; each round gives one ratio, and
the median of the rounds counts. Whole processes are timed, from start to exit, files warm in the page cache. Beside the
wall clock stands the processor time, user and system with all children: on a busy machine its ratio says more.

A row whose peer is not installed is skipped, aloud. Nothing here fails for being slow; it ends with an error only when
something did not do its work.
"""

import argparse
import datetime
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent


def busy():
    """Seconds that all cores together have worked since the machine was started; proc_stat(5)."""
    fields = [int(field) for field in open("/proc/stat").readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


class Run:
    """One process from start to exit."""

    def __init__(self, command, cores, watch=None):
        before, machine = resource.getrusage(resource.RUSAGE_CHILDREN), busy()
        start = time.monotonic()
        process = subprocess.Popen(
            [str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "VIPS_CONCURRENCY": "1"}, preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self.peak = Peak(process.pid) if watch else None
        said = process.communicate()[1]
        self.wall = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        # What others took of the machine meanwhile: then the wall clock measures them too.
        self.others = max(0, busy() - machine - self.processor) / (self.wall * os.cpu_count())
        if self.peak: self.peak.stop()
        if process.returncode != 0:
            sys.exit(f"bench: {pathlib.Path(command[0]).name} ended with {process.returncode}:\n{said[-2000:]}")


class Peak:
    """The sum of the highest resident sets (VmHWM) of a process and its children. Pages that several share count in
    each of them, so it is more than the machine gives."""

    def __init__(self, pid):
        self.pid, self.highest, self.ended = pid, {}, threading.Event()
        self.thread = threading.Thread(target=self.follow)
        self.thread.start()

    def follow(self):
        while not self.ended.wait(0.1):
            for entry in os.scandir("/proc"):
                if entry.name.isdigit(): self.look(int(entry.name))

    def look(self, pid):
        try:
            fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status", errors="replace") if ":" in line)
        except OSError:
            return  # it has ended
        if self.pid in (pid, int(fields["PPid"])) and "VmHWM" in fields:
            self.highest[pid] = int(fields["VmHWM"].split()[0]) / 1024

    def stop(self):
        self.ended.set()
        self.thread.join()
        self.total = sum(self.highest.values())


class Bench:
    def __init__(self, options):
        self.options = options
        self.lines = []
        self.cores = sorted(os.sched_getaffinity(0))
        self.work = options.work.resolve()
        self.programs = options.programs.resolve()

    def say(self, line=""):
        print(line, flush=True)
        self.lines.append(line)

    def fresh(self, *names):
        """Empty folders, on the medium, so that nobody pays for the run before."""
        shutil.rmtree(self.work, ignore_errors=True)
        for name in names: (self.work / name).mkdir(parents=True)
        subprocess.run(["sync", "-f", self.work], check=True)

    def photos(self, name):
        found = sorted((self.options.photos / name).resolve().glob("*.JPG"))
        if not found: sys.exit(f"bench: there are no photos in {self.options.photos / name}; run photos.sh")
        return found

    @staticmethod
    def warm(files):
        for file in files: file.read_bytes()

    def count(self, folder, pattern, wanted, whose):
        found = sum(1 for _ in (self.work / folder).rglob(pattern))
        if found != wanted: sys.exit(f"bench: {whose} made {found} of {wanted} files {pattern}")

    def wants(self, goal):
        return not self.options.only or goal in self.options.only

    # Previews alone: G1, G2, G3.

    def previews(self, goal, name, what, demand):
        if not self.wants(goal): return
        if not shutil.which("vipsthumbnail"):
            return self.say(f"{goal}  skipped: no vipsthumbnail to compare with (libvips-tools)")
        files, core = self.photos(name), {self.cores[-1]}
        ours, peer = [], []
        for _ in self.rounds(goal):
            self.warm(files)
            self.fresh("out")
            ours.append(Run(
                [self.programs / "preview-bench", self.programs / "photospool-decoder", self.work / "out", *files], core))
            self.count("out", "*.JPG", len(files), "photospool")
            self.fresh("out")
            peer.append(Run(
                ["vipsthumbnail", *files, "-s", "1200x1200", "-o", f"{self.work}/out/%s.jpg[Q=82]"], core))
            self.count("out", "*.jpg", len(files), "vipsthumbnail")
        self.compare(goal, f"{len(files)} x {what}: previews, one decoder, one core", "vipsthumbnail", len(files), ours,
                     peer, demand)

    # Whole imports: G7, G10.

    def imports(self):
        if not (self.wants("G10") or self.wants("G7")): return
        if len(self.cores) < 2: return self.say("G7, G10  skipped: they need two cores")
        has_peer = shutil.which("vipsthumbnail") is not None
        files, two = self.photos("12mp"), set(self.cores[:2])
        both, single, script = [], [], []
        for _ in self.rounds("G10"):
            both.append(self.daemon(files, 2, two))
            if has_peer: script.append(self.script(files, two))
            single.append(self.daemon(files, 1, {self.cores[0]}))
        what = f"{len(files)} x 12 MP: whole import, 2 workers, two cores"
        if has_peer:
            self.compare("G10", what, "cp; sync; sha256sum; vipsthumbnail -P2", len(files), both, script, 2.5)
        else:
            self.say("G10  skipped: no vipsthumbnail for the script (libvips-tools)")
        self.compare("G10", "the same: 2 workers on two cores", "1 worker on one core", len(files), both, single, 1.85)
        peaks = [run.peak.total for run in both]
        self.say(f"G7   the same, resident memory: daemon + 2 decoders, MiB  {spread(peaks, 1)}"
                 f"   demand <= 96: {verdict(statistics.median(peaks) <= 96)}")

    def daemon(self, files, workers, cores):
        self.fresh("drop", "library", "state", "run")
        for file in files: shutil.copy2(file, self.work / "drop")
        subprocess.run(["sync", "-f", self.work], check=True)
        self.warm(sorted((self.work / "drop").iterdir()))
        run = self.ingest(workers, cores)
        self.count("library", "*.JPG", len(files), "photospool")
        self.count("library/.photospool/previews", "*.jpg", len(files), "photospool")
        return run

    def ingest(self, workers, cores):
        (self.work / "photospool.toml").write_text(
            f'[library]\npath = "{self.work}/library"\nreserve_free = "0"\n'
            f'[[drop]]\nname = "card"\npath = "{self.work}/drop"\nsettle = "0"\n'
            f'[import]\nworkers = {workers}\n[control]\nsocket = "{self.work}/run/control.sock"\n')
        return Run(
            [self.programs / "photospoold", "--config", self.work / "photospool.toml", "--state-dir",
             self.work / "state", "--once"], cores, watch=workers > 1)

    def script(self, files, cores):
        self.fresh("drop", "library", "previews")
        for file in files: shutil.copy2(file, self.work / "drop")
        subprocess.run(["sync", "-f", self.work], check=True)
        self.warm(sorted((self.work / "drop").iterdir()))
        run = Run([HERE / "script.sh", self.work / "drop", self.work / "library", self.work / "previews"], cores)
        self.count("previews", "*.jpg", len(files), "the script")
        return run

    # The promise alone: G15.

    def promise(self):
        """Files as heavy as photos whose picture is small, so that copying and verifying is what is measured; the preview
        of each is ours alone to pay."""
        if not self.wants("G15"): return
        count, size = self.options.files, 4 << 20
        ours, peer = [], []
        for _ in self.rounds("G15"):
            self.cards(count, size, "drop", "library", "state", "run")
            ours.append(self.ingest(2, set(self.cores)))
            self.count("library", "*.JPG", count, "photospool")
            self.cards(count, size, "drop", "library", "lists")
            peer.append(Run([HERE / "byhand.sh", *(self.work / name for name in ("drop", "library", "lists"))],
                            set(self.cores)))
            self.count("library", "*.JPG", count, "byhand.sh")
        self.compare("G15", f"{count} x {size >> 20} MiB: imported and verified, with small previews",
                     "cp; sync each; sha256sum of both from the disk", count, ours, peer, 1 / 1.1)

    def cards(self, count, size, *names):
        """A drop folder of that many different files, on the disk and not in memory, as from a card."""
        self.fresh(*names)
        picture = (HERE.parent / "Tests/Demo/samples/IMG_0001.JPG").read_bytes()
        for number in range(count):
            filling = os.urandom(size - len(picture))
            comments = b"".join(
                b"\xff\xfe" + (len(part) + 2).to_bytes(2, "big") + part
                for part in (filling[at:at + 65533] for at in range(0, len(filling), 65533)))
            with open(self.work / "drop" / f"IMG_{number:04}.JPG", "wb") as file:
                file.write(picture[:2] + comments + picture[2:])
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    # Telling.

    def rounds(self, goal):
        for number in range(self.options.rounds):
            print(f"  {goal}: round {number + 1} of {self.options.rounds}", file=sys.stderr, flush=True)
            yield number

    def compare(self, goal, what, peer_name, count, ours, peer, demand):
        ratios = [b.wall / a.wall for a, b in zip(ours, peer)]
        processor = [b.processor / a.processor for a, b in zip(ours, peer)]
        self.say(f"{goal:<4} {what}")
        for name, runs in (("photospool", ours), (peer_name, peer)):
            self.say(f"       {name:<40} ms/photo {spread([run.wall / count * 1000 for run in runs], 1)}"
                     f"   processor {spread([run.processor / count * 1000 for run in runs], 1)}")
        self.say(f"       {'ratio':<40}          {spread(ratios, 2)}   processor {spread(processor, 2)}"
                 f"   demand >= {demand:.3g}: {verdict(statistics.median(ratios) >= demand)}")
        others = statistics.median(run.others for run in ours + peer)
        if others > 0.05: self.say(f"       others took {others:.0%} of the machine meanwhile")

    def machine(self):
        flags = next((line for line in open("/proc/cpuinfo") if line.startswith("flags")), "").split()
        has = [name for name, flag in (("AVX2", "avx2"), ("AVX-512", "avx512f"), ("SHA", "sha_ni")) if flag in flags]
        if "hypervisor" in flags: has.append("virtual")
        memory = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal"))
        self.fresh("out")
        filesystem = subprocess.run(
            ["findmnt", "-n", "-o", "FSTYPE", "-T", self.work], capture_output=True, text=True, check=True).stdout.strip()
        kernel = ".".join(os.uname().release.split(".")[:2])
        self.say(f"{len(self.cores)} cores {os.uname().machine} ({', '.join(has)}), {memory / 2**20:.0f} GiB, "
                 f"Linux {kernel}, {filesystem}; {datetime.date.today()}; {self.options.rounds} rounds, "
                 "min / median / max")

    def all(self):
        self.machine()
        self.previews("G1", "12mp", "12 MP", 2.3)
        self.previews("G2", "24mp", "24 MP", 1.5)
        self.previews("G3", "12mp-progressive", "12 MP progressive", 1.5)
        self.imports()
        self.promise()
        shutil.rmtree(self.work, ignore_errors=True)
        if self.options.save: self.options.save.write_text("\n".join(self.lines) + "\n")


def spread(values, digits):
    return " / ".join(f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))


def verdict(is_reached):
    return "reached" if is_reached else "missed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder with the release build")
    parser.add_argument("--photos", type=pathlib.Path, required=True, help="what photos.sh made")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="emptied for every run; on a disk")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", type=int, default=1000, help="how many are imported for G15")
    parser.add_argument("--only", type=lambda text: text.split(","), help="goals by name: G1,G10")
    parser.add_argument("--save", type=pathlib.Path, help="keep the table in this file too")
    Bench(parser.parse_args()).all()


if __name__ == "__main__":
    main()
