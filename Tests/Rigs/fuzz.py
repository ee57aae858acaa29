#!/usr/bin/env python3
"""Damages photos in many ways and drops them: the real daemon has to outlive all of them, and answer for each.

    fuzz.py [SECONDS] [SEED]      60 seconds without a number; the seed is printed, and repeats the damage

What ends a decoder or keeps it busy past its deadline costs that photo its preview and nothing else; such files are
kept in build/fuzz, for each is a fault in a library or in our use of it.
"""
import collections, pathlib, random, shutil, struct, subprocess, sys, tempfile, time

from daemon import Installation, Verdicts, digest, here, photos

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
dice = random.Random(seed)
print(f"{seconds:.0f} s, seed {seed}", flush=True)

# Large files spend the time on copying.
kinds = ("jpeg", "jpeg-orientation", "heic", "avif", "png", "webp", "tiff")
originals = [path.read_bytes() for path in photos(kinds) if path.stat().st_size < 600_000]
# GIF and JPEG XL are in no corpus, and small ones of the others carry more headers for their size.
with tempfile.TemporaryDirectory() as folder:
    def made(name, *command):
        subprocess.run([*command, name], cwd=folder, check=True, capture_output=True)
        originals.append(pathlib.Path(folder, name).read_bytes())

    made("a.png", "convert", "-seed", "1", "-size", "120x80", "plasma:fractal", "-depth", "8")
    made("a.gif", "convert", "a.png")
    made("b.gif", "convert", "a.png", "-interlace", "GIF", "-transparent", "black")
    made("a.tif", "convert", "a.png", "-compress", "lzw")
    made("b.tif", "tiffcp", "-t", "-w", "32", "-l", "32", "-p", "separate", "-c", "zip", "a.tif")
    made("a.webp", "cwebp", "-quiet", "-lossless", "a.png", "-o")
    made("a.jxl", "cjxl", "-d", "0", "a.png")
    made("b.jxl", "cjxl", "-d", "1", "--container=1", "a.png")
kept = here.parent.parent / "build/fuzz"
findings = ("E_DECODER_CRASH", "E_DECODE_TIMEOUT", "E_POISON")
marks = [b"\xff", b"Exif", b"II*", b"MM\0*", b"ftyp", b"meta", b"iloc", b"ipco", b"iprp", b"hvcC", b"av1C", b"IDAT",
         b"iCCP", b"VP8X", b"VP8L", b"ALPH", b"ANMF", b"jxlc", b"jxlp", b"\xff\x0a", b"\x21\xf9", b"\x2c\0"]
extremes = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


def place(photo):
    """Where it hurts: mostly among headers, which stand first, and after marks that the formats are made of."""
    if dice.random() < 0.3:
        mark = dice.choice(marks)
        found = photo.find(mark, dice.randrange(len(photo)))
        if found >= 0:
            return min(found + dice.randrange(len(mark) + 16), len(photo) - 1)
    return dice.randrange(min(len(photo), dice.choice([64, 1024, 16384, len(photo)])))


def flip(photo):
    for _ in range(dice.choice([1, 1, 4, 32])):
        photo[place(photo)] ^= 1 << dice.randrange(8)


def overwrite(photo):
    width, sign = dice.choice([(1, "B"), (2, ">H"), (2, "<H"), (4, ">I"), (4, "<I")])
    at = place(photo)
    photo[at:at + width] = struct.pack(sign, dice.choice(extremes) & ((1 << 8 * width) - 1))


def cut(photo):
    del photo[place(photo):]


def take_out(photo):
    at = place(photo)
    del photo[at:at + dice.choice([1, 2, 4, 16, 512, 8192])]


def repeat(photo):
    at, count = place(photo), dice.choice([1, 4, 64, 4096])
    photo[at:at] = photo[at:at + count] * dice.choice([1, 2, 50])


def graft(photo):
    other = dice.choice(originals)
    at, origin, count = place(photo), place(other), dice.choice([4, 64, 4096, 65536])
    photo[at:at + count] = other[origin:origin + count]


def noise(photo):
    at, count = place(photo), dice.choice([16, 1024, 65536])
    photo[at:at + count] = dice.randbytes(count)


def damaged():
    photo = bytearray(dice.choice(originals))
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        dice.choice([flip, overwrite, cut, take_out, repeat, graft, noise])(photo)
        photo = photo or bytearray(b"\xff")
    return bytes(photo)


installation = Installation({"drop": ""}, '[import]\ndeadline = "5s"\nmax_attempts = 1\n')
verdicts = Verdicts()
outcomes, faults, sums, peak = collections.Counter(), [], {}, 0
end = time.monotonic() + seconds
try:
    installation.start()
    seen = set()
    while time.monotonic() < end and not faults:
        for _ in range(40):
            # A folder for each, so that equal stems are no group; the name lies about the kind, as names do.
            folder = installation.drops["drop"] / f"{len(sums):06d}"
            folder.mkdir()
            target = folder / dice.choice(["a.JPG", "a.HEIC", "a.AVIF", "a.PNG", "a.WEBP", "a.TIF", "a.GIF", "a.JXL"])
            target.write_bytes(damaged())
            sums[target] = digest(target)
        if not installation.wait_until_idle(300):
            faults.append(f"it ended with {installation.daemon.poll()}" if installation.daemon.poll() is not None
                          else "it does not come to rest")
            break
        for line in pathlib.Path(f"/proc/{installation.daemon.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                peak = int(line.split()[1]) // 1024
    answered = installation.daemon.poll() is None
    jobs = installation.every("/v1/jobs") if answered else []
    assets = {a["id"]: a for a in installation.every("/v1/assets")} if answered else {}
    verdicts(f"outlives {len(sums)} damaged photos", faults and [*faults, installation.log()[-3000:]])

    job_of = {pathlib.Path(file["path"]): job for job in jobs for file in job["files"]}
    faults = []
    for path, sum in sums.items():
        if digest(path) != sum:
            faults.append(f"{path} was touched")
        job = job_of.get(path)
        if job is None:
            faults.append(f"{path} has no job")
            continue
        asset = assets.get(job["asset_id"])
        code = (job["error"] or {}).get("code") or (asset["preview"]["code"] if asset else None)
        outcomes[f"{job['state']}{f', {code}' if code else ''}"] += 1
        if job["state"] not in ("imported", "duplicate", "failed", "skipped"):
            faults.append(f"{path}: {job['state']}")
        if job["state"] == "failed" and not code:
            faults.append(f"{path} failed without a code")
        if code in findings:
            kept.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept / f"{code}-{sum[:12]}{path.suffix}")
    verdicts("has an answer for each, and touched none", faults)
    recorded = {installation.library / r["path"]: r["sha256"] for a in assets.values() for r in a["resources"]}
    verdicts("has nothing in the library but what it says", [
        str(path) for path in installation.visible() if recorded.get(path) != digest(path)])
    verdicts(f"stays below 300 MiB itself ({peak} MiB)", [] if peak < 300 else [f"{peak} MiB"])
    if answered:
        verdicts("stops with 0", [] if (status := installation.stop()) == 0 else [f"exit status {status}"])
    verdicts("leaves nothing over", map(str, installation.left_over()))
    for outcome, count in outcomes.most_common():
        print(f"  {count:6} {outcome}")
    if any(code in outcome for code in findings for outcome in outcomes):
        print(f"The files that ended or kept a decoder are in {kept}")
finally:
    installation.remove()
sys.exit(verdicts.end())
