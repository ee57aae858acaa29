#!/usr/bin/env python3
"""Kills a whole machine, kernel and all, at random moments of an import, boots it again each time, and counts the photos.

    deaths.py [DEATHS] [SEED]    20 deaths without a number; the seed is printed, and repeats the moments as far as that goes
    deaths.py faults [SEED]      with a daemon that does not wait for its write-ahead log, which has to show

The machine is a kernel of its own (User-Mode Linux) with an ext4 disk; with it dies all that it had not written there. What
its daemon says to be imported goes out over the console before. After each death, before the daemon starts again, every
photo has to be in its drop folder or in the library, every file in the library a whole photo, the database sound, and all
that was ever said to be imported has to be in it. In the last life each photo comes home. life.py runs in the machine.
"""
import json, os, queue, random, signal, subprocess, sys, threading, time

import apart
from daemon import Verdicts, variant
from machine import Machine, check
from promises import digest

arriving = 6  # photos in each life
a_machine = 25  # deaths of one


class Lives:
    def __init__(self, deaths, seed, forget=""):
        """`forget` is what the daemon is made to forget; see forget.c."""
        self.dice, self.deaths, self.forget, self.machine = random.Random(seed), deaths, forget, Machine("life.py")
        self.acknowledged, self.photos = [], {}
        self.disk, pool = self.machine.folder / "disk", self.machine.folder / "tree/pool"
        pool.mkdir(parents=True)
        for number in range(arriving * (deaths + 1)):
            path = pool / f"IMG_{number:04}.JPG"
            path.write_bytes(variant(number, f"photo {number} of {seed}"))
            self.photos[digest(path)] = path.name
        with open(self.disk, "wb") as file:
            file.truncate((64 << 20) + 4 * sum(path.stat().st_size for path in pool.iterdir()))
        subprocess.run(["mkfs.ext4", "-q", "-F", "-d", pool.parent, self.disk], check=True)

    def live(self, number):
        """One life, from boot to death: what was wrong. The last one ends by itself."""
        is_last = number == self.deaths
        (self.machine.mail / "life.json").write_text(json.dumps({
            "photos": self.photos, "acknowledged": self.acknowledged, "is_last": is_last, "arriving": arriving,
            "forget": self.forget}))
        # Some die while the last death is being settled, most in the middle of work.
        awaited = None if is_last else self.dice.choice([0, *range(arriving + 1)])
        delay = 0 if is_last else self.dice.random() * (0.1 if awaited else 0.6)
        machine, words, noise = self.machine.boot(self.disk), queue.Queue(), []
        reader = threading.Thread(target=self.listen, args=(machine.stdout, words, noise), daemon=True)
        reader.start()
        faults, seen, is_started, is_over = [], 0, False, False
        while not is_over and not faults and not (is_started and seen == awaited):
            try:
                word, *rest = words.get(timeout=300)
            except queue.Empty:
                faults.append("nothing was heard for five minutes")
                break
            is_started |= word == "started"
            seen += word == "imported"
            is_over = word == "over"
            faults += rest if word == "fault" else []
        time.sleep(delay)
        if machine.poll() is None:
            os.killpg(machine.pid, signal.SIGKILL)
        machine.wait()
        reader.join()
        faults += [rest[0] for word, *rest in words.queue if word == "fault"]
        if is_over and not is_last:
            faults.append("the machine went down by itself")
        if is_last and "@ home" not in noise:
            faults.append("the last life came to no end")
        return [f"life {number}: {fault}" for fault in faults] + (noise[-20:] if faults else [])

    def listen(self, console, words, noise):
        """To the end: when nobody holds the console any more, the last process of the machine is gone. What was said until
        then counts; a line that death cut off was not said."""
        for line in console:
            if line.startswith(b"@ ") and line.endswith(b"\n"):
                word, *rest = line.decode().strip().split(" ", 2)[1:]
                self.acknowledged += rest if word == "imported" else []
                words.put([word, *rest])
            noise.append(line.decode(errors="replace").strip())
        words.put(["over"])


def die(deaths, seed, verdicts):
    """A new machine after some deaths, for to look through its library before each life takes longer and longer."""
    print(f"{deaths} deaths, seed {seed}", flush=True)
    for first in range(0, deaths, a_machine):
        here = min(a_machine, deaths - first)
        began, lives, early, faults = time.monotonic(), Lives(here, f"{seed} {first}"), 0, []
        for number in range(here + 1):
            before = len(lives.acknowledged)
            faults = lives.live(number)
            early += number < here and len(lives.acknowledged) == before
            if faults:
                break
        took = (time.monotonic() - began) / (number + 1)
        verdicts(f"{number} deaths, {early} of them before an import, with {len(lives.photos)} photos, "
                 f"{len(lives.acknowledged)} imports said: none lost, none forgotten, each home in the end "
                 f"({took:.1f} s a life)", faults)


def plant(seed, verdicts):
    print(f"seed {seed}", flush=True)
    lives, faults = Lives(8, seed, forget="wal"), []
    for number in range(8):
        faults += lives.live(number)
        if any("FORGOTTEN" in fault for fault in faults):
            break
    forgotten = sum("FORGOTTEN" in fault for fault in faults)
    verdicts(f"no fsync of the write-ahead log: {forgotten} imports forgotten after {number} deaths",
             [] if forgotten else ["not one fault was seen"])


def main():
    plants = sys.argv[1:2] == ["faults"]
    apart.go("deaths of a machine")
    check("deaths of a machine")
    verdicts = Verdicts()
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    if plants:
        plant(seed, verdicts)
    else:
        die(int(sys.argv[1]) if len(sys.argv) > 1 else 20, seed, verdicts)
    return verdicts.end()


if __name__ == "__main__":
    sys.exit(main())
