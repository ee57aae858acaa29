"""Measures how fast photospool notices a file, and what a rescan of everything costs, against find and inotifywait.

Two trees are made for it and removed again: a million files of one byte in 1,000 folders, which the daemon is told in
its database that it knows, and 100,000 folders. Imports are paused: what counts is the row in the queue, as another
process sees it. The time a file has to settle is taken off.
"""

import argparse
import datetime
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent / "Tests/Rigs")]

import daemon as rig
from bench import busy, spread, verdict

SETTLE = 0.1  # s; settle and group_wait of the rig's drop folders, which run at the same time
INOTIFY = pathlib.Path("/proc/sys/fs/inotify")
NEVER = 'rescan_interval = "24h"'


class Sysctl:
    """A kernel setting for the length of a run."""

    def __init__(self, name, least):
        self.file = INOTIFY / name
        self.before = int(self.file.read_text())
        self.is_raised = self.before < least
        if self.is_raised: self.file.write_text(str(least))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.is_raised: self.file.write_text(str(self.before))


def memory(pid, field="VmRSS"):
    """MiB, as proc_pid_status(5) has them."""
    for line in open(f"/proc/{pid}/status"):
        if line.startswith(field + ":"): return int(line.split()[1]) / 1024
    raise KeyError(field)


def worked(pid):
    """Seconds of processor time over all threads; the first field of schedstat is nanoseconds."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            total += int(open(f"/proc/{pid}/task/{task}/schedstat").read().split()[0])
        except OSError:
            pass  # a thread that has ended
    return total / 1e9


def until(what, holds, limit=120, gap=0.002):
    end = time.monotonic() + limit
    while not holds():
        if time.monotonic() > end: sys.exit(f"bench: waited too long for {what}")
        time.sleep(gap)
    return time.monotonic()


def empty(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))


def percentiles(values):
    values = sorted(values)
    at = lambda share: values[min(len(values) - 1, int(share * len(values)))] * 1000
    return f"{statistics.median(values) * 1000:.1f} / {at(0.99):.1f} / {values[-1] * 1000:.1f}"


class Daemon(rig.Installation):
    """The rig's installation, paused, with a queue that can be looked at from outside."""

    def __init__(self, base):
        super().__init__({"drop": NEVER}, base=base)
        self.drop = self.drops["drop"]

    def status(self):
        try:
            return self.get("/v1/status")
        except rig.Unanswered:
            return None

    def up(self):
        """Starts it and waits for its first scan: seconds. There may be no job in the queue."""
        started = time.monotonic()
        self.start()
        return until("the first scan", self.has_scanned, 600, 0.01) - started

    def has_scanned(self):
        status = self.status()
        # Before the watcher's first look every folder counts as absent, which is idle too.
        return status and status["idle"] and status["drops"][0]["health"] != "waiting"

    def look(self):
        self.eye = sqlite3.connect(f"file:{self.state}/spool.db?mode=ro", uri=True, isolation_level=None)

    def rows(self):
        return self.eye.execute("SELECT count(*) FROM job_file WHERE job_id > ?", (self.last,)).fetchone()[0]

    def mark(self):
        self.last = self.eye.execute("SELECT coalesce(max(id), 0) FROM job").fetchone()[0]

    def rescan(self):
        """Everything once: seconds from the order to the last of the work it made, and processor seconds. A scan that has
        begun shows only in the time its threads take."""
        pid, started = self.daemon.pid, time.monotonic()
        at, first = [], worked(pid)
        done = first
        self.post("/v1/rescan")
        while True:
            time.sleep(0.01)
            now, sum = time.monotonic(), worked(pid)
            # More than a twentieth of a core is work; less is the once a second of the status line.
            if sum - done > 0.0005: at.append(now)
            done = sum
            recent = [moment for moment in at if moment > now - 0.5]
            if len(recent) < 10 and now - started > 0.6: break
        busiest = [moment for moment, after in zip(at, at[3:]) if after - moment < 0.1]
        return max(busiest, default=started) + 0.03 - started, done - first


class Detect:
    def __init__(self, options):
        self.options = options
        self.lines = []
        self.work = options.work.resolve()
        rig.programs = options.programs.resolve()

    def say(self, line=""):
        print(line, flush=True)
        self.lines.append(line)

    def note(self, line):
        print(f"  {line}", file=sys.stderr, flush=True)

    def row(self, goal, what, value):
        self.say(f"{goal:<4} {what:<58} {value}")

    def all(self):
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        kernel = ".".join(os.uname().release.split(".")[:2])
        filesystem = subprocess.run(
            ["findmnt", "-n", "-o", "FSTYPE", "-T", self.work], capture_output=True, text=True, check=True).stdout.strip()
        self.say(f"detect: {os.cpu_count()} cores {os.uname().machine}, Linux {kernel}, {filesystem}; "
                 f"{datetime.date.today()}; max_user_watches {(INOTIFY / 'max_user_watches').read_text().strip()}")
        before, started = busy(), time.monotonic()
        try:
            for goals, part in (("D1 D4", self.arrivals), ("D3", self.folders), ("G12 D1 D2", self.million)):
                if not self.options.only or set(goals.split()) & set(self.options.only): part()
        finally:
            self.note("removing the trees")
            shutil.rmtree(self.work, ignore_errors=True)
        # Ours and the peer's share of it too: near 100 % others were at work as well.
        self.say(f"     the machine was busy for {(busy() - before) / (time.monotonic() - started) / os.cpu_count():.0%}"
                 f" of {time.monotonic() - started:.0f} s; times are min / median / max")
        if self.options.save: self.options.save.write_text("\n".join(self.lines) + "\n")

    # Latency: D1.

    def arrivals(self):
        """From close(2) to the queued row, and to the line of the script."""
        count = self.options.files
        daemon = Daemon(self.work)
        try:
            daemon.up()
            daemon.post("/v1/pause")
            daemon.look()
            self.row("D1", f"close to queued row, {count} files one by one, ms beyond settle",
                     self.latency(daemon, count) + "   (median / p99 / max)")
            self.races(daemon)
            self.overflow(daemon)
            daemon.stop()
        finally:
            daemon.remove()
        if not shutil.which("inotifywait"): return self.say("D1   skipped: no inotifywait to compare with (inotify-tools)")
        self.script(count)

    def latency(self, daemon, count, before=lambda: None):
        folder = daemon.drop / "one-by-one"
        folder.mkdir(exist_ok=True)
        found = []
        for number in range(count):
            daemon.mark()
            before()
            path = folder / f"IMG_{time.monotonic_ns()}.JPG"
            with open(path, "wb") as file: file.write(b"photo %d" % number)
            closed = time.monotonic()
            seen = until("a row", daemon.rows, 60, 0.0005)
            found.append(seen - closed - SETTLE)
        return percentiles(found)

    RACES, LOST = 500, 500

    def make_races(self, drop):
        for number in range(self.RACES):
            folder = drop / f"race-{number}"
            os.mkdir(folder)
            with open(folder / f"IMG_{number}.JPG", "wb") as file: file.write(b"photo")

    def make_flood(self, drop, pid):
        """Fills the queue of one that stands still with what nobody wants, then brings files: of those comes no word."""
        os.kill(pid, signal.SIGSTOP)
        until("a process to stand still", lambda: ") T" in open(f"/proc/{pid}/stat").read())
        for number in range(int((INOTIFY / "max_queued_events").read_text()) + 1):
            name = drop / f"noise-{number % 2}.tmp"
            empty(name)
            os.unlink(name)
        for number in range(self.LOST):
            with open(drop / f"IMG_L{number}.JPG", "wb") as file: file.write(b"photo")
        os.kill(pid, signal.SIGCONT)

    def races(self, daemon):
        daemon.mark()
        self.make_races(daemon.drop)
        self.settle(daemon.rows, self.RACES)
        self.row("D4", f"{self.RACES} files each in a folder made an instant before: missed", self.RACES - daemon.rows())

    def overflow(self, daemon):
        daemon.mark()
        self.make_flood(daemon.drop, daemon.daemon.pid)
        self.settle(daemon.rows, self.LOST)
        self.row("D4", f"{self.LOST} files after the kernel's queue was full: missed", self.LOST - daemon.rows())

    @staticmethod
    def settle(count, wanted, limit=10):
        """Until all are there, or nothing has come for two seconds."""
        last, moved = count(), time.monotonic()
        end = moved + limit
        while last < wanted and time.monotonic() < end and time.monotonic() - moved < 2:
            time.sleep(0.05)
            if (now := count()) != last: last, moved = now, time.monotonic()

    def script(self, count):
        drop = self.work / "scripted"
        drop.mkdir()
        script = Script(drop)
        try:
            until("the script's watches", lambda: script.is_watching)
            found = []
            for number in range(count):
                path = drop / f"IMG_{number}.JPG"
                with open(path, "wb") as file: file.write(b"photo %d" % number)
                closed = time.monotonic()
                until("the script's line", lambda: str(path) in script.lines, 60, 0.0005)
                found.append(script.lines[str(path)] - closed)
            self.row("D1", "the same to the line of an inotifywait script, which waits for nothing, ms", percentiles(found))
            for what, make in (
                    (f"{self.RACES} files in folders made an instant before: the script missed", self.make_races),
                    (f"{self.LOST} files after the kernel's queue was full: the script missed",
                     lambda drop: self.make_flood(drop, script.watcher()))):
                before = len(script.lines)
                make(drop)
                wanted = self.RACES if make == self.make_races else self.LOST
                named = lambda: sum(1 for line in list(script.lines)[before:] if line.endswith(".JPG"))
                self.settle(named, wanted)
                self.row("D4", what, wanted - named())
        finally:
            script.end()

    # Folders: D3.

    def folders(self):
        """A tree of nothing but folders: what a watch on each costs."""
        count = self.options.folders
        with Sysctl("max_user_watches", count + 10_000) as limit:
            if limit.is_raised:
                self.say(f"     fs.inotify.max_user_watches was {limit.before}; raised for this run, and put back")
            daemon = Daemon(self.work)
            try:
                self.note(f"making {count} folders")
                for number in range(count):
                    if number % 1000 == 0: (daemon.drop / str(number // 1000)).mkdir()
                    os.mkdir(daemon.drop / f"{number // 1000}/{number % 1000}")
                seconds = daemon.up()
                pid, status = daemon.daemon.pid, daemon.status()
                self.row("D3", f"{count} folders, start until the first scan is done", f"{seconds:.2f} s")
                self.row("D3", "the same: watches, resident memory",
                         f"{status['drops'][0]['watches']}, {memory(pid):.0f} MiB; mode {status['drops'][0]['mode']}")
                daemon.stop()
                if not shutil.which("inotifywait"): return
                script, started = Script(daemon.drop), time.monotonic()
                try:
                    until("the script's watches", lambda: script.is_watching, 600, 0.01)
                    self.row("D3", "the same by inotifywait --recursive",
                             f"{time.monotonic() - started:.2f} s, {memory(script.watcher()):.0f} MiB")
                finally:
                    script.end()
            finally:
                self.note("removing the folders")
                daemon.remove()

    # A million files: D2, D1.

    def million(self):
        folders, each = 1000, self.options.known // 1000
        count = folders * each
        daemon = Daemon(self.work)
        try:
            daemon.up()
            daemon.post("/v1/pause")
            # One that the daemon has looked at itself shows how it sees this filesystem.
            daemon.look()
            daemon.last = 0
            with open(daemon.drop / "first.JPG", "wb") as file: file.write(b"1")
            until("a row", daemon.rows)
            daemon.post(f"/v1/jobs/{daemon.get('/v1/jobs')['items'][0]['id']}/cancel")
            daemon.stop()
            daemon.eye.close()
            self.note(f"making {count} files")
            self.make_known(daemon, folders, each)
            seconds = daemon.up()
            pid = daemon.daemon.pid
            self.row("D2", f"{count} known files, start until the first scan is done", f"{seconds:.2f} s")
            before = memory(pid)
            ours, peer, newer = [], [], []
            stamp = self.work / "stamp"
            stamp.touch()
            for number in range(self.options.rounds):
                self.note(f"round {number + 1} of {self.options.rounds}")
                ours.append(daemon.rescan())
                peer.append(self.find(daemon.drop, "-size", "+1G"))
                newer.append(self.find(daemon.drop, "-type", "f", "-newer", stamp))
            def both(runs):
                return "   processor ".join(spread([run[place] for run in runs], 2) for place in (0, 1))
            ratios = [[a / b for a, b in zip(*pair)] for pair in zip(ours, peer)]
            self.row("G12", f"rescan of {count} known files in {folders} folders, s", both(ours))
            self.row("", "find -size over the same, s", both(peer))
            self.row("", "find -type f -newer STAMP, as a script would, s", both(newer))
            self.row("", "ratio to find -size", f"{both(ratios)}   demand <= 1.5: "
                     f"{verdict(statistics.median(ratio[0] for ratio in ratios) <= 1.5)}")
            self.row("D2", "resident memory before and after, highest ever, MiB",
                     f"{before:.0f}, {memory(pid):.0f}, {memory(pid, 'VmHWM'):.0f}")
            daemon.look()
            queued = daemon.eye.execute("SELECT jobs FROM tally WHERE name = 'queued'").fetchone()[0]
            if queued: sys.exit(f"bench: {queued} files that are known were queued again")
            self.row("D1", f"close to queued row while that rescan runs, {self.options.files} files, ms beyond settle",
                     self.latency(daemon, self.options.files, lambda: daemon.post("/v1/rescan")))
            daemon.stop()
        finally:
            self.note("removing the files")
            daemon.remove()

    @staticmethod
    def find(*words):
        """Seconds, and processor seconds."""
        started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["find", *words], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.monotonic() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    @staticmethod
    def make_known(daemon, folders, each):
        """Files of one byte without a block on the disk, and for each the rows that its import would have left."""
        database = sqlite3.connect(daemon.state / "spool.db", isolation_level=None)
        database.execute("PRAGMA synchronous = OFF")
        filesystem, device = database.execute("SELECT filesystem, device FROM job_file").fetchone()
        batch, first = database.execute("SELECT max(batch_id), max(id) + 1 FROM job").fetchone()
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'job'")
        triggers = triggers.fetchall()

        def files():
            for folder in range(folders):
                path = daemon.drop / f"{folder:04d}"
                path.mkdir()
                held = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
                for number in range(each):
                    file = os.open(f"IMG_{number:04d}.JPG", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=held)
                    os.ftruncate(file, 1)
                    found = os.fstat(file)
                    os.close(file)
                    yield f"{path}/IMG_{number:04d}.JPG".encode(), found
                os.close(held)

        database.execute("BEGIN")
        for name, _ in triggers: database.execute(f"DROP TRIGGER {name}")
        job = "INSERT INTO job (id, state, drop_name, batch_id, order_key, sequence, is_manual, created_at, finished_at) " \
              "VALUES (?, 'imported', 'drop', ?, ?, ?, 0, 0, 0)"
        file = "INSERT INTO job_file (job_id, position, role, drop_name, filesystem, path, size, mtime_ns, device, inode) " \
               "VALUES (?, 0, 'photo', 'drop', ?, ?, 1, ?, ?, ?)"
        for number, (path, found) in enumerate(files(), first):
            database.execute(job, (number, batch, path, number))
            database.execute(file, (number, filesystem, path, found.st_mtime_ns, device, found.st_ino))
        for _, sql in triggers: database.execute(sql)
        count = folders * each
        database.execute("UPDATE tally SET jobs = jobs + ? WHERE name = 'imported'", (count,))
        database.execute("UPDATE batch SET total = total + ?, done = done + ? WHERE id = ?", (count, count, batch))
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        subprocess.run(["sync", "-f", daemon.state], check=True)


class Script:
    """watch.sh at work: its lines, with the time at which each came."""

    def __init__(self, drop):
        self.lines, self.is_watching = {}, False
        self.process = subprocess.Popen(
            [HERE / "watch.sh", drop], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        for follow in (self.follow_lines, self.follow_words): threading.Thread(target=follow, daemon=True).start()

    def follow_lines(self):
        for line in self.process.stdout: self.lines.setdefault(line.rstrip("\n"), time.monotonic())

    def follow_words(self):
        for line in self.process.stderr:
            if "established" in line: self.is_watching = True

    def watcher(self):
        """The process id of inotifywait."""
        found = subprocess.run(["pgrep", "-P", str(self.process.pid), "inotifywait"], capture_output=True, text=True)
        return int(found.stdout.split()[0])

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def main():
    parser = argparse.ArgumentParser(prog="detect", description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder with the release build")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="emptied for every run; on a disk")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", type=lambda text: text.split(","), help="goals by name: G12,D3")
    parser.add_argument("--files", type=int, default=200, help="files one by one")
    parser.add_argument("--known", type=int, default=1_000_000, help="files for the rescan, in 1,000 folders")
    parser.add_argument("--folders", type=int, default=100_000)
    parser.add_argument("--save", type=pathlib.Path, help="keep the table in this file too")
    Detect(parser.parse_args()).all()


if __name__ == "__main__":
    main()
