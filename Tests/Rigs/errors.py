#!/usr/bin/env python3
"""Lets one call after the other fail under the running daemon, and looks at what it believes, deletes and says meanwhile.

    errors.py [COUNT] [SEED]    280 cases of the matrix without a number, always the same ones without a seed
    errors.py all               the whole matrix
    errors.py COUNT SEED parted     of a group that is parted into two shots

The matrix: what the call says, by the call, by the place (library, its staging, state, drop folder), by the moment: at the
first of such calls, in the middle, at the last, or from the middle on until the fault is mended. Whatever can be said by
each call in each place comes at least once. While it lasts no photo may be said to be imported whose bytes are not in the library, no source be removed
whose original is not there, nothing be seen in part; the daemon has to live, and to answer. Once it is over, all has to
become well by itself.
"""
import collections, concurrent.futures, contextlib, itertools, os, random, sys, time

from daemon import Unanswered, Verdicts, preloaded
from shoot import Parted, Shoot

# Every how manieth case, where all would take too long: under a sanitizer.
step = int(os.environ.get("PHOTOSPOOL_THIN", "1"))
seed = int(sys.argv[2]) if len(sys.argv) > 2 else 2026
kind = Parted if sys.argv[3:4] == ["parted"] else Shoot
width = 16 * (os.cpu_count() or 1)

errors = ("EIO", "ENOSPC", "EDQUOT", "EROFS", "ESTALE", "EMFILE", "EINTR", "SHORT")
calls = ("open", "read", "write", "sync", "rename", "link", "unlink", "close")
places = {"library": "library", "staging": "library/.photospool/staging", "state": "state", "drop": "drop"}
moments = ("first", "middle", "last", "from the middle on")
# Where the filesystem knows no rename that replaces nothing, names are linked and unlinked: else there is no link(2).
no_rename = "rename:EINVAL:1+@{everywhere}"


class Case:
    def __init__(self, error, call, place, moment, counts):
        self.error, self.call, self.place, self.moment = error, call, place, moment
        count = counts[call, place]
        first = {"first": 1, "middle": (count + 1) // 2, "last": count}.get(moment, (count + 1) // 2)
        last = "" if moment != "from the middle on" else "-%d" % (first + 40) if error == "EINTR" else "+"
        self.span = f"{first}{last}"
        # Sources that are moved are unlinked nowhere.
        moves = place == "drop" and call != "unlink" and (first + len(error)) % 2
        self.after_import = "move" if moves else "delete"

    def __str__(self):
        return f"{self.call} says {self.error} in {self.place}, {self.moment} ({self.span}), {self.after_import}"

    def rules(self, shoot):
        rules = [f"{self.call}:{self.error}:{self.span}@{shoot.installation.folder / places[self.place]}"]
        return rules + [no_rename.format(everywhere=shoot.everywhere)] * (self.call == "link")


def count_calls(library, rules=()):
    """How often an undisturbed daemon makes each call in each place, from its start to its end."""
    shoot = kind("delete")
    try:
        trace = shoot.installation.folder / "trace"
        environment = shoot.environment(
            library, [rule.format(everywhere=shoot.everywhere) for rule in rules], FAULTS_TRACE=trace,
            FAULTS_ROOT=shoot.installation.folder)
        shoot.place()
        shoot.installation.start(environment)
        if not shoot.installation.wait_until_idle(300):
            sys.exit(shoot.installation.log())
        shoot.installation.stop()
        counts = collections.Counter()
        for line in trace.read_text().splitlines():
            call, _, path, *to = line.split(" ")
            below = (to or [path])[-1][len(str(shoot.installation.folder)) + 1:]
            for place, folder in places.items():
                counts[call.rstrip("!"), place] += below == folder or below.startswith(folder + "/")
        return counts
    finally:
        shoot.remove()


class Ordeal:
    """One case, from the start of a daemon to its end."""

    def __init__(self, case, library):
        self.case, self.shoot = case, kind(case.after_import)
        self.installation = self.shoot.installation
        self.met, self.mended = self.installation.folder / "met", self.installation.folder / "mended"
        self.environment = self.shoot.environment(
            library, case.rules(self.shoot), FAULTS_MET=self.met, FAULTS_UNTIL=self.mended)
        self.faults, self.silent_since = [], None

    def hits(self):
        with contextlib.suppress(OSError):
            return sum(line.startswith(f"{self.case.call} {self.case.error} ")
                       for line in self.met.read_text(errors="replace").splitlines())
        return 0

    def look(self):
        """What holds at any moment. Returns the status, when it is told."""
        if (code := self.installation.daemon.poll()) is not None:
            # Who cannot begin says so by an exit status, and is started again by the service manager.
            if code not in (75, 78):
                self.faults.append(f"DIED with {code}")
            else:
                time.sleep(0.2)
            self.installation.start(self.environment)
            self.silent_since = None
            return None
        status, jobs = None, []
        try:
            status = self.installation.get("/v1/status")
            jobs = self.installation.every("/v1/jobs")
            self.silent_since = None
        except RuntimeError:
            self.silent_since = None  # that it cannot is an answer
        except Unanswered:
            self.silent_since = self.silent_since or time.monotonic()
            if time.monotonic() - self.silent_since > 120:
                self.faults.append("MUTE for two minutes")
        said = [file["path"] for job in jobs if job["state"] in ("imported", "duplicate") for file in job["files"]]
        said += [line.split("PATH=")[1].strip().strip('"') for line in self.installation.log().splitlines()
                 if "Imported." in line and "PATH=" in line]
        stored = set(self.shoot.stored().values())
        for path in said:
            if self.shoot.sources[path[len(str(self.shoot.drop)) + 1:]] not in stored:
                self.faults.append(f"FALSE {path} is said to be imported")
        self.faults += self.shoot.promises()
        done = status and status["idle"] and status["state"] == "running" and len(jobs) == kind.jobs and all(
            job["state"] in ("imported", "duplicate") and job["disposition"]["state"] != "pending" for job in jobs)
        return bool(done) and not any(self.installation.left_over())

    def run(self):
        """(how often the call failed, what was wrong)"""
        try:
            self.shoot.place()
            self.installation.start(self.environment)
            began, first = time.monotonic(), None
            while not self.faults:
                done, now = self.look(), time.monotonic()
                first = first or (now if self.hits() else None)
                lasted = first and now - first > 2
                if lasted or done or now - began > 60:
                    break
                time.sleep(0.2)
            self.mended.touch()
            end = time.monotonic() + 300
            while not self.faults and not self.look():
                if time.monotonic() > end:
                    self.faults.append("STUCK: all is well again, and it does not go on")
                time.sleep(0.2)
            if not self.faults:
                status = self.installation.stop()
                self.faults += [f"stopped with {status}"] if status else []
                self.faults += self.shoot.end(may_be_kept=self.case.place == "drop")
            if self.faults:
                self.faults.append(self.installation.log()[-3000:])
            return self.case, self.hits(), [f"{self.case}: {fault}" for fault in self.faults]
        finally:
            self.shoot.remove()


def matrix(counts):
    found = []
    for error, call, place, moment in itertools.product(errors, calls, places, moments):
        if error == "SHORT" and call not in ("read", "write") or not counts[call, place]:
            continue
        if moment in ("middle", "last") and counts[call, place] < (2 if moment == "last" else 3):
            continue
        found.append(Case(error, call, place, moment, counts))
    return found


def thinned(cases, count):
    """One moment of each error, call and place; then any others."""
    dice, groups = random.Random(seed), collections.defaultdict(list)
    for case in cases:
        groups[case.error, case.call, case.place].append(case)
    chosen = [dice.choice(group) for group in groups.values()]
    rest = [case for case in cases if case not in chosen]
    return chosen + dice.sample(rest, max(0, min(count - len(chosen), len(rest))))


def table(hit):
    counts = collections.Counter((case.error, case.call) for case in hit)
    print("cases      " + "".join(f"{call:>8}" for call in calls))
    for error in errors:
        print(f"  {error:<9}" + "".join(f"{counts[error, call] or '-':>8}" for call in calls))
    where = collections.Counter(case.place for case in hit)
    print("  in " + ", ".join(f"{place}: {where[place]}" for place in places), flush=True)


def main():
    verdicts = Verdicts()
    with preloaded("faultlib.c") as library:
        counts = count_calls(library)
        linked = count_calls(library, [no_rename])
        counts.update({key: count for key, count in linked.items() if key[0] == "link"})
        cases = every = matrix(counts)
        if sys.argv[1:2] != ["all"]:
            cases = thinned(cases, int(sys.argv[1]) if len(sys.argv) > 1 else 280)[::step]
        print(f"{len(cases)} cases, seed {seed}", flush=True)
        began, hit, injected, faults = time.monotonic(), [], 0, []
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            for case, hits, wrong in pool.map(lambda case: Ordeal(case, library).run(), cases):
                hit += [case] * bool(hits)
                injected += hits
                faults += wrong
    table(hit)
    count = lambda word: len({fault.split(": ")[0] for fault in faults if f": {word} " in fault or f": {word}:" in fault})
    missed = {(case.error, case.call) for case in cases} - {(case.error, case.call) for case in hit}
    untold = [case for case in cases if case not in hit]
    verdicts(
        f"{len(hit)} errors injected ({injected} calls failed): falsely imported {count('FALSE')}, wrongly removed "
        f"{count('REMOVED')}, lost {count('LOST')}, partial {count('PARTIAL')}, "
        f"believed after a failed sync or close {count('BELIEVED')}, died {count('DIED')}, "
        f"did not answer {count('MUTE')}, did not recover {count('STUCK')} ({time.monotonic() - began:.0f} s)", faults)
    verdicts(
        f"{len(untold)} of {len(cases)} cases (of {len(every)}) met no call",
        [f"{call} never said {error}" for error, call in sorted(missed) if step == 1])
    for case in untold:
        print(f"         {case}")
    return verdicts.end()


if __name__ == "__main__":
    sys.exit(main())
