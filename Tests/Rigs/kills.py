#!/usr/bin/env python3
"""Kills the daemon with SIGKILL before every call by which an import changes the disk, starts it again, and counts.

    kills.py [PAIRS] [ROUNDS] [SEED]    150 pairs and one round without numbers; the seed is printed, and repeats them

Three times over, for sources that are kept, moved and deleted: one life for each of the calls, which ends before that
call. Once more for a group that is parted into two shots. Then PAIRS lives that end so and whose successor is killed while it recovers. In between nothing may be lost, seen in
part, or removed without its original and its line in the journal, and the database has to be whole. After at most two
more starts each photo is in the library once, with its preview, and nothing is left over. With more rounds than one also
where a filesystem knows no rename that replaces nothing.
"""
import concurrent.futures, os, random, sys, time

from daemon import Verdicts, preloaded
from shoot import Parted, Shoot

pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 150
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
# Every how manieth call, where all would take too long: under a sanitizer.
step = int(os.environ.get("PHOTOSPOOL_THIN", "1"))
width = 2 * (os.cpu_count() or 1)


class Rig:
    def __init__(self, library, template, more=(), shoot=Shoot):
        """`more`: further rules, with {everywhere} for the folders."""
        self.library, self.template, self.more, self.shoot = library, template, more, shoot

    def environment(self, shoot, death=None, **variables):
        rules = [rule.format(everywhere=shoot.everywhere) for rule in self.more]
        return shoot.environment(
            self.library, rules + [f"change:KILL:{death}@{shoot.everywhere}"] * bool(death), **variables)

    def changes(self, after_import, first_death=None):
        """How many calls of an undisturbed life change the disk; with `first_death`, of the life after such a one."""
        shoot = self.shoot(after_import, self.template)
        try:
            shoot.place()
            if first_death:
                shoot.installation.once(self.environment(shoot, first_death))
            trace = shoot.installation.folder / "trace"
            code = shoot.installation.once(
                self.environment(shoot, FAULTS_TRACE=trace, FAULTS_ROOT=shoot.installation.folder))
            faults = list(shoot.end())
            if code or faults:
                sys.exit(f"undisturbed, it ended with {code}: {faults}\n{shoot.installation.log()}")
            return sum(line.split()[0].endswith("!") for line in trace.read_text().splitlines())
        finally:
            shoot.remove()

    def case(self, after_import, deaths):
        """(how many of the deaths came, starts until all was well, what was wrong)"""
        shoot, faults, died, starts = self.shoot(after_import, self.template), [], 0, 0
        try:
            shoot.place()
            for death in deaths:
                code = shoot.installation.once(self.environment(shoot, death))
                if code == -9:
                    died += 1
                elif code != 0:
                    faults.append(f"it ended by itself with {code}")
                faults += [*shoot.promises(), *shoot.catalog()]
            code = None
            while code != 0 and starts < 2:
                starts += 1
                code = shoot.installation.once(self.environment(shoot))
            faults += ([f"the last start ended with {code}"] if code else []) + list(shoot.end())
            if faults:
                faults.append(shoot.installation.log()[-2000:])
            return died, starts, [f"{after_import}, killed at {deaths}: {fault}" for fault in faults]
        finally:
            shoot.remove()

    def run(self, cases):
        """(points where it was killed, most starts, what was wrong)"""
        killed, most, faults = 0, 0, []
        with concurrent.futures.ThreadPoolExecutor(width) as pool:
            for died, starts, wrong in pool.map(lambda case: self.case(*case), cases):
                killed, most = killed + died, max(most, starts)
                faults += wrong
        return killed, most, faults


def sum_up(killed, most, faults, seconds):
    count = lambda word: sum(f": {word} " in fault for fault in faults)
    return (
        f"{killed} kill points: lost {count('LOST')}, twice {count('TWICE')}, partial {count('PARTIAL')}, removed without "
        f"original or line {count('REMOVED')}, left over {count('LEFT')}; at most {most} starts to be well "
        f"({seconds:.0f} s)")


def every_call(rig, after_import, words, dice, verdicts):
    """How many points there were."""
    began = time.monotonic()
    # The threads take turns as they like, and so there are more calls or fewer.
    calls = [rig.changes(after_import) for _ in range(3)]
    points = range(dice.randint(1, step), max(calls) + 1, step)
    killed, most, faults = rig.run([(after_import, [point]) for point in points])
    verdicts(
        f"{words}, {max(calls)} calls: " + sum_up(killed, most, faults, time.monotonic() - began),
        faults + [f"only {killed} of {len(points)} points were reached"] * (killed < 0.75 * len(points)))
    return killed


def while_recovering(rig, dice, verdicts):
    began, cases = time.monotonic(), []
    for after_import in ("keep", "move", "delete"):
        # A first death late enough that there is something to recover, and a second in what comes after it.
        calls = rig.changes(after_import)
        firsts = [dice.randint(calls // 4, calls) for _ in range(max(1, pairs // 3))]
        after = max(rig.changes(after_import, first) for first in dice.sample(firsts, min(4, len(firsts))))
        cases += [(after_import, [first, dice.randint(1, after)]) for first in firsts]
    killed, most, faults = rig.run(cases)
    verdicts("while it recovers: " + sum_up(killed, most, faults, time.monotonic() - began), faults)
    return killed


def main():
    verdicts = Verdicts()
    dice = random.Random(seed)
    print(f"every {step}. call, {pairs} pairs, {rounds} rounds, seed {seed}", flush=True)
    total = 0
    template = Shoot("keep")
    template.installation.once()
    folder = template.installation.folder
    with preloaded("faultlib.c") as library:
        for _ in range(rounds):
            # The library and the state are made at the first start: those calls are cut short once, in the first.
            total += every_call(Rig(library, None), "keep", "keep", dice, verdicts)
            for after_import in ("move", "delete"):
                total += every_call(Rig(library, folder), after_import, after_import, dice, verdicts)
            parted = Rig(library, folder, shoot=Parted)
            total += every_call(parted, "move", "a group that is parted, move", dice, verdicts)
            if rounds > 1:
                # As on NFS: no rename that replaces nothing, so that each is made of a link and an unlink.
                linking = Rig(library, folder, ["rename:EINVAL:1+@{everywhere}"])
                total += every_call(linking, "delete", "delete by links", dice, verdicts)
            total += while_recovering(Rig(library, folder), dice, verdicts)
    template.remove()
    print(f"kill points: {total}")
    return verdicts.end()


if __name__ == "__main__":
    sys.exit(main())
