#!/usr/bin/env python3
"""D15: so many tiny photos lie in a drop folder that nothing may keep them all in memory.

    flood.py [PHOTOS] [IMPORTED]        20000 photos, of which 200 are imported, without numbers

A tenth of them is queued first, then all, while importing is paused: what the daemon keeps is a number of files that
settle, and of the database, that does not grow with them. Then it imports, and has to come along steadily: each quarter of
IMPORTED takes no longer than three times the quickest. At last it is started again and finds that it knows them all.
"""
import os, sys, time

from daemon import Installation, Unanswered, Verdicts

count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 200
verdicts = Verdicts()
# A grey JPEG of one pixel, baseline, as cjpeg writes it but for the tables that one block needs.
tiny = bytes.fromhex(
    "ffd8ffdb004300" + "01" * 64 + "ffc0000b080001000101011100ffc40014000100000000000000000000000000000003"
    "ffc40014100100000000000000000000000000000000ffda0008010100003f0047ffd9")


def photo(number):
    comment = f"photo {number}".encode()
    return tiny[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + tiny[2:]


def memory(pid):
    """What is its own, in MiB: pages of files and of libraries do not count."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        fields = dict(line.split(":") for line in file.read().splitlines()[1:])
    return sum(int(fields[name].split()[0]) for name in ("Private_Dirty", "Swap")) / 1024


def watch_memory():
    global peak
    peak = max(peak, memory(installation.daemon.pid))


def fill(first, last):
    for number in range(first, last):
        folder = installation.drops["card"] / f"{number // 1000:03d}"
        folder.mkdir(exist_ok=True)
        (folder / f"IMG_{number % 1000:04d}_{number}.JPG").write_bytes(photo(number))


def queue():
    while True:
        try:
            return installation.get("/v1/status")["queue"]
        except Unanswered:
            time.sleep(0.2)


def wait_for(name, number, limit):
    end = time.monotonic() + limit
    while True:
        states = queue()
        watch_memory()
        # What was under way when it was told to pause is imported, and counts as found.
        if states[name] + (states["imported"] if name == "queued" else 0) >= number:
            return True
        if time.monotonic() > end:
            return False
        time.sleep(0.2)


peak = 0
installation = Installation({"card": 'rescan_interval = "1h"'})
try:
    fill(0, count // 10)
    installation.start()
    queue()
    installation.post("/v1/pause")
    pid = installation.daemon.pid
    limit = 60 + count / 100
    if not wait_for("queued", count // 10, limit):
        verdicts("a tenth of them is queued", [f"{queue()}"])
    time.sleep(2)
    few, peak = memory(pid), 0
    started = time.monotonic()
    fill(count // 10, count)
    found = wait_for("queued", count, limit)
    took = time.monotonic() - started
    time.sleep(2)
    many = memory(pid)
    verdicts(f"{count} photos are queued, in {took:.0f} s", [] if found else [f"{queue()}"])
    print(f"of its own the daemon has {few:.0f} MiB with {count // 10} queued, {peak:.0f} MiB at most while the others come, "
          f"{many:.0f} MiB with {count}")
    most = few + 16
    verdicts("its memory does not grow with them", [] if max(many, peak) <= most else [f"by {max(many, peak) - few:.0f} MiB"])
    installation.post("/v1/resume")
    times, goal = [], queue()["imported"]
    for _ in range(4):
        goal += wanted // 4
        begun = time.monotonic()
        if not wait_for("imported", goal, 120):
            verdicts("they are imported", [f"{queue()}"])
            break
        times.append(time.monotonic() - begun)
    print("quarters of the imports took " + ", ".join(f"{one:.1f} s" for one in times))
    verdicts("they come along steadily", [] if len(times) == 4 and max(times) <= 3 * min(times) + 1 else [f"{times}"])
    last = memory(pid)
    verdicts(f"{last:.0f} MiB after importing", [] if last <= most + 8 else ["more than with a tenth"])
    installation.post("/v1/pause")
    status = installation.stop()
    verdicts("the daemon ends well", [] if status == 0 else [f"status {status}"])
    installation.start()
    queue()
    peak, started = 0, time.monotonic()
    # Nothing tells when a listing that finds nothing new has ended; this is ten times what it takes.
    while time.monotonic() < started + 3 + count / 20_000:
        watch_memory()
        time.sleep(0.1)
    again = memory(installation.daemon.pid)
    verdicts(f"started again it has {again:.0f} MiB, {peak:.0f} at most", [] if max(again, peak) <= most else ["more than before"])
    installation.stop()
finally:
    installation.remove()
sys.exit(verdicts.end())
