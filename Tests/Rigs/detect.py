#!/usr/bin/env python3
"""Arrivals as the field brings them, at full length; `make test` has the same ones shortened.

    detect.py

First 20,000 photos whose events the kernel throws away, and 500 that come with a folder each. Then, side by side and at
the settle time that the service has by itself: a photo of 10 MB that takes a minute, one that is opened and closed ten
times and then written for 20 s, 200 photos at 1 MB/s, uploads under temporary names.
"""
import hashlib, os, pathlib, signal, subprocess, sys, tempfile, threading, time

from daemon import Installation, Verdicts, digest, here

verdicts = Verdicts()
samples = here.parent / "Demo/samples"


def picture(path, *words):
    """A JPEG that another program makes."""
    subprocess.run(["convert", "-seed", "1", *words, path], check=True)
    return path.read_bytes()


def until(what, limit, holds):
    end = time.monotonic() + limit
    while not holds():
        if time.monotonic() > end: raise TimeoutError(f"waited {limit} s for {what}")
        time.sleep(0.05)


def stands_still(pid):
    return ") T" in pathlib.Path(f"/proc/{pid}/stat").read_text()


def settled(installation, photos, limit):
    """What is wrong once the daemon has come to rest: each photo is in the library once, and every job went well."""
    # Before the daemon has looked it is idle too.
    try:
        until("the imports", limit, lambda: installation.get("/v1/status")["queue"]["imported"] >= len(photos))
    except TimeoutError:
        pass  # what is missing is said below
    if not installation.wait_until_idle(limit): return ["does not come to rest", installation.log()[-2000:]]
    found = [digest(path) for path in installation.visible()]
    wanted = {hashlib.sha256(photo).hexdigest() for photo in photos}
    jobs = installation.every("/v1/jobs")
    return [
        *([f"{len(wanted - set(found))} photos are missing"] if wanted - set(found) else []),
        *([f"{len(set(found) - wanted)} files are none of the photos"] if set(found) - wanted else []),
        *([f"{len(found) - len(set(found))} photos are there twice"] if len(found) > len(set(found)) else []),
        *(f"job {job['id']}: {job['state']} {job.get('error')}" for job in jobs if job["state"] != "imported"),
        *([f"{len(jobs)} jobs for {len(photos)} photos"] if len(jobs) != len(photos) else []),
        *map(str, installation.left_over())]


def many(folder):
    small = picture(folder / "small.jpg", "-size", "64x48", "plasma:fractal", "-quality", "82")
    installation = Installation({"drop": ""}, more="[preview]\nmax_size = 32\n")
    drop, photos = installation.drops["drop"], []
    try:
        installation.start()
        until("the daemon", 60, lambda: installation.wait_until_idle(60))
        pid = installation.daemon.pid
        os.kill(pid, signal.SIGSTOP)
        until("the daemon to stand still", 10, lambda: stands_still(pid))
        # In the folder that is watched: two events for each, more than twice what the kernel keeps.
        for number in range(20_000):
            photos.append(small + b"number %d" % number)
            (drop / f"IMG_{number}.JPG").write_bytes(photos[-1])
        os.kill(pid, signal.SIGCONT)
        verdicts("A01 imports each of 20,000 photos once whose events were lost", [
            *settled(installation, photos, 600),
            *([] if (said := installation.log().count("Events were lost")) == 1 else [f"the loss is said {said} times"])])
        for number in range(500):
            (drop / f"n{number}").mkdir()
            photos.append(small + b"raced %d" % number)
            (drop / f"n{number}/IMG_{number}.JPG").write_bytes(photos[-1])
        verdicts("A04 imports each of 500 photos once whose folder was made an instant before",
                 settled(installation, photos, 120))
        verdicts("stops with 0", [] if installation.stop() == 0 else ["another exit status"])
    finally:
        end(installation)


def slow(folder):
    big = picture(folder / "big.jpg", "-size", "4000x3000", "plasma:fractal", "-attenuate", "0.3", "+noise", "Gaussian",
                  "-quality", "96")
    print(f"         the big photo has {len(big) / 1e6:.1f} MB", flush=True)
    one = (samples / "IMG_0001.JPG").read_bytes()
    installation = Installation({"drop": ""}, settle="2s")
    drop, failures = installation.drops["drop"], []
    copies = [one + b"copy %d" % number for number in range(200)]
    uploads = {"x.jpg": one + b"upload 1", "A.jpg": one + b"upload 2", "B.jpg": one + b"upload 3"}
    rounds = one + b"rounds"

    def hold(path, data, seconds):
        """Written through one open file, in portions with gaps that are longer than the settle time."""
        with open(path, "ab", buffering=0) as file:
            portions = max(1, int(seconds / 2.5))
            for number in range(portions):
                file.write(data[len(data) * number // portions:len(data) * (number + 1) // portions])
                time.sleep(seconds / portions)

    def trickle():
        hold(drop / "BIG.JPG", big, 60)

    def write_rounds():
        for number in range(10):
            with open(drop / "ROUNDS.JPG", "ab") as file: file.write(rounds[number * 100:number * 100 + 100])
            time.sleep(0.1)
        hold(drop / "ROUNDS.JPG", rounds[1000:], 20)

    def copy_many():
        (drop / "copy").mkdir()
        for number, photo in enumerate(copies):
            with open(drop / f"copy/IMG_{number}.JPG", "wb", buffering=0) as file:
                for place in range(0, len(photo), 65536):
                    file.write(photo[place:place + 65536])
                    time.sleep(len(photo[place:place + 65536]) / 1e6)

    def upload():
        part = drop / "x.jpg.filepart"
        hold(part, uploads["x.jpg"], 5)
        part.rename(drop / "x.jpg")
        hidden = {".syncthing.A.jpg.tmp": "A.jpg", "~syncthing~B.jpg": "B.jpg"}
        for name, last in hidden.items(): (drop / name).write_bytes(uploads[last])
        time.sleep(30)
        for name, last in hidden.items(): (drop / name).rename(drop / last)

    def at_work(body):
        try:
            body()
        except OSError as error:
            failures.append(f"{body.__name__}: {error}")

    try:
        installation.start()
        until("the daemon", 60, lambda: installation.wait_until_idle(60))
        whole = {digest(folder / "big.jpg"), *(hashlib.sha256(photo).hexdigest()
                                               for photo in [*copies, *uploads.values(), rounds])}
        writers = [threading.Thread(target=at_work, args=(body,)) for body in (trickle, write_rounds, copy_many, upload)]
        for writer in writers: writer.start()
        partial, before_end = set(), 0
        while any(writer.is_alive() for writer in writers):
            time.sleep(0.5)
            for path in installation.visible():
                if digest(path) not in whole: partial.add(f"{path.name} was partial, with {path.stat().st_size} bytes")
            if writers[2].is_alive(): before_end = installation.get("/v1/status")["queue"]["imported"]
        photos = [big, rounds, *copies, *uploads.values()]
        verdicts("B01 B03 B05 B07 B09 imports what trickles in, once and when it is whole", [
            *failures, *sorted(partial), *settled(installation, photos, 120)])
        verdicts("B07 does not wait for the end of a long copy",
                 [] if before_end > 50 else [f"{before_end} photos were imported before it"])
        asset = next(a for a in installation.every("/v1/assets") if a["resources"][0]["source_path"].endswith("BIG.JPG"))
        preview = asset["preview"]
        said = subprocess.run(
            ["compare", "-metric", "PSNR", "(", folder / "big.jpg", "-resize", "1200x900!", ")",
             installation.library / str(preview["path"]), "null:"], capture_output=True, text=True).stderr
        verdicts("B09 makes the right preview of it by itself", [
            *([f"preview {preview}"] if preview["state"] != "ok" else []),
            *([f"{said} dB from the photo"] if not said or float(said.split()[0]) < 25 else [])])
        verdicts("stops with 0", [] if installation.stop() == 0 else ["another exit status"])
    finally:
        end(installation)


def end(installation):
    if verdicts.failed: print(f"everything is kept in {installation.folder}")
    if installation.daemon and installation.daemon.poll() is None: installation.kill()
    if not verdicts.failed: installation.remove()


started = time.monotonic()
with tempfile.TemporaryDirectory(prefix="photospool-rig-") as name:
    for body in (many, slow):
        try:
            body(pathlib.Path(name))
        except TimeoutError as error:
            verdicts(body.__name__, [str(error)])
print(f"{time.monotonic() - started:.0f} s")
sys.exit(verdicts.end())
