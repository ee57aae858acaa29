#!/usr/bin/env python3
"""Imports pictures of 100 megapixels with four workers, and holds what daemon and decoders take against memory_budget.

    memory.py [PICTURES] [BUDGET IN MIB]        16 pictures within 1024 MiB without numbers

The pictures are JPEGs, baseline and progressive, and PNGs. What is counted is the proportional set size of all processes,
twenty times a second: shared pages count once. With `open` behind the numbers it is shown what would be taken without a
budget.
"""
import os, pathlib, random, subprocess, sys, tempfile, threading, time, zlib

from daemon import Installation, Unanswered, Verdicts

numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
count = numbers[0] if numbers else 16
budget = numbers[1] if len(numbers) > 1 else 1024
is_open = "open" in sys.argv
width, height = 11600, 8700
verdicts = Verdicts()


def chunk(name, content):
    return len(content).to_bytes(4, "big") + name + content + zlib.crc32(name + content).to_bytes(4, "big")


def make(folder):
    """One picture of each kind: soft columns with some noise, in 64 rows again and again."""
    dice = random.Random(1)
    wave = [bytes((x * 7 // 50 + dice.randrange(16) + row) & 255 for x in range(3 * width)) for row in range(64)]
    ppm = folder / "base.ppm"
    packer = zlib.compressobj(1)
    packed = []
    with open(ppm, "wb") as file:
        file.write(f"P6\n{width} {height}\n255\n".encode())
        for row in range(height):
            file.write(wave[row % 64])
            packed.append(packer.compress(b"\0" + wave[row % 64]))
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    png = folder / "picture.png"
    png.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"".join(packed) + packer.flush())
                    + chunk(b"IEND", b""))
    baseline, progressive = folder / "baseline.jpg", folder / "progressive.jpg"
    subprocess.run(["cjpeg", "-quality", "85", "-outfile", baseline, ppm], check=True)
    subprocess.run(["jpegtran", "-progressive", "-copy", "none", "-outfile", progressive, baseline], check=True)
    ppm.unlink()
    return [progressive, png, progressive, baseline]


def proportional(pid):
    """Bytes; 0 for a process that is gone."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def children(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            found += [int(word) for word in (task / "children").read_text().split()]
        except OSError:
            pass
    return found


class Meter(threading.Thread):
    peak, busiest, parts = 0, 0, ()

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.ends = pid, False

    def run(self):
        while not self.ends:
            try:
                decoders = [proportional(child) for child in children(self.pid)]
            except OSError:
                break
            own = proportional(self.pid)
            self.busiest = max(self.busiest, sum(one > 100 << 20 for one in decoders))
            if own + sum(decoders) > self.peak:
                self.peak, self.parts = own + sum(decoders), (own, *decoders)
            time.sleep(0.05)


with tempfile.TemporaryDirectory(prefix="photospool-memory-") as name:
    kinds = make(pathlib.Path(name))
    limits = f'[import]\nworkers = 4\ndeadline = "120s"\nmemory_budget = "{999999 if is_open else budget}MiB"\n'
    installation = Installation({"card": ""}, more=limits)
    try:
        for number in range(count):
            kind = kinds[number % len(kinds)]
            folder = installation.drops["card"] / f"{number:02d}"
            folder.mkdir()
            # A few bytes behind its end make another file of it.
            (folder / f"IMG_{number:04d}{kind.suffix}").write_bytes(kind.read_bytes() + f"copy {number}".encode())
        started = time.monotonic()
        installation.start()
        meter = Meter(installation.daemon.pid)
        meter.start()
        while True:
            time.sleep(0.3)
            try:
                queue = installation.get("/v1/status")["queue"]
            except Unanswered:
                continue
            if queue["imported"] + queue["failed"] >= count or time.monotonic() - started > 1200:
                break
        took = time.monotonic() - started
        assets = installation.every("/v1/assets")
        states = [asset["preview"]["state"] for asset in assets]
        meter.ends = True
        meter.join()
        status = installation.stop()
        print(f"{count} pictures of {width} x {height} in {took:.0f} s, at most {meter.busiest} large decodes at a time; "
              f"daemon and decoders at their peak: {', '.join(str(part >> 20) for part in meter.parts)} MiB")
        verdicts("every picture has a preview", [] if states.count("ok") == count else [f"{states}"])
        verdicts("the daemon ends well", [] if status == 0 else [f"status {status}"])
        verdicts(f"{meter.peak >> 20} MiB of the {budget} MiB that there are",
                 [] if meter.peak <= budget << 20 else ["more than the budget"])
    finally:
        if installation.daemon.poll() is None:
            installation.kill()
        installation.remove()
sys.exit(verdicts.end())
