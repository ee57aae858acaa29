#!/usr/bin/env python3
"""Damages photos and videos in many ways and drops them: the real daemon has to outlive them, and answer for each.

    fuzz.py [FILES] [SEED]      5000 without a number; the seed is printed, and repeats the damage

What ends a decoder or keeps it busy past its deadline costs that photo its preview and nothing else; such files are
kept in build/fuzz, for each is a fault in a library or in our use of it.
"""
import collections, pathlib, random, shutil, struct, subprocess, sys, tempfile, threading, time

from daemon import Installation, Verdicts, digest, here, photos

count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
dice = random.Random(seed)
print(f"{count} files, seed {seed}", flush=True)

# Large files spend the time on copying.
originals = collections.defaultdict(list)  # by kind, so that none is damaged more often for being there more often
for kind in ("jpeg", "jpeg-orientation", "heic", "avif", "png", "webp", "tiff", "raw", "video"):
    for path in photos((kind,)):
        if path.stat().st_size < (2_000_000 if kind in ("raw", "video") else 600_000):
            originals[kind].append(path.read_bytes())
# GIF and JPEG XL are in no corpus, and small ones of the others carry more headers for their size.
with tempfile.TemporaryDirectory() as folder:
    def made(kind, name, *command):
        subprocess.run([*command, name], cwd=folder, check=True, capture_output=True)
        originals[kind].append(pathlib.Path(folder, name).read_bytes())

    made("png", "a.png", "convert", "-seed", "1", "-size", "120x80", "plasma:fractal", "-depth", "8")
    made("gif", "a.gif", "convert", "a.png")
    made("gif", "b.gif", "convert", "a.png", "-interlace", "GIF", "-transparent", "black")
    made("tiff", "a.tif", "convert", "a.png", "-compress", "lzw")
    made("tiff", "b.tif", "tiffcp", "-t", "-w", "32", "-l", "32", "-p", "separate", "-c", "zip", "a.tif")
    made("webp", "a.webp", "cwebp", "-quiet", "-lossless", "a.png", "-o")
    made("jxl", "a.jxl", "cjxl", "-d", "0", "a.png")
    made("jxl", "b.jxl", "cjxl", "-d", "1", "--container=1", "a.png")
    film = ("ffmpeg", "-v", "error", "-loop", "1", "-i", "a.png", "-t", "1", "-r", "10")
    made("video", "a.mp4", *film, "-pix_fmt", "yuv420p")
    made("video", "a.mkv", *film, "-c:v", "mpeg4")
    made("video", "a.avi", *film, "-c:v", "mjpeg", "-pix_fmt", "yuvj420p")
    made("video", "a.mts", *film, "-c:v", "mpeg2video")
kinds = sorted(originals)
kept = here.parent.parent / "build/fuzz"
findings = ("E_DECODER_CRASH", "E_DECODE_TIMEOUT", "E_POISON")
marks = [b"\xff", b"Exif", b"II*", b"MM\0*", b"ftyp", b"meta", b"iloc", b"ipco", b"iprp", b"hvcC", b"av1C", b"IDAT",
         b"iCCP", b"VP8X", b"VP8L", b"ALPH", b"ANMF", b"jxlc", b"jxlp", b"\xff\x0a", b"\x21\xf9", b"\x2c\0",
         b"moov", b"trak", b"stsd", b"avcC", b"keys", b"HEAPCCDR", b"CIFF", b"CMT1", b"FUJI", b"\x1a\x45\xdf\xa3", b"LIST"]
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
    other = dice.choice(originals[dice.choice(kinds)])
    at, origin, count = place(photo), place(other), dice.choice([4, 64, 4096, 65536])
    photo[at:at + count] = other[origin:origin + count]


def noise(photo):
    at, count = place(photo), dice.choice([16, 1024, 65536])
    photo[at:at + count] = dice.randbytes(count)


def damaged():
    photo = bytearray(dice.choice(originals[dice.choice(kinds)]))
    for _ in range(dice.choice([1, 1, 1, 2, 3, 8])):
        dice.choice([flip, overwrite, cut, take_out, repeat, graft, noise])(photo)
        photo = photo or bytearray(b"\xff")
    return bytes(photo)


installation = Installation({"drop": ""}, '[import]\ndeadline = "15s"\nmax_attempts = 1\n')
verdicts = Verdicts()
outcomes, faults, sums, peak, heaviest = collections.Counter(), [], {}, 0, 0
resting = threading.Event()


def memory(pid):
    """The most that a process ever had in memory, MiB; 0 when it is gone."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return max((int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")), default=0)


def weigh_decoders():
    global heaviest
    while not resting.wait(0.05):
        children = pathlib.Path(f"/proc/{installation.daemon.pid}/task").glob("*/children")
        for pids in children:
            try:
                heaviest = max([heaviest, *map(memory, pids.read_text().split())])
            except OSError:
                pass  # that thread is gone


try:
    installation.start()
    threading.Thread(target=weigh_decoders, daemon=True).start()
    while len(sums) < count and not faults:
        for _ in range(min(40, count - len(sums))):
            # A folder for each, so that equal stems are no group; the name lies about the kind, as names do.
            folder = installation.drops["drop"] / f"{len(sums):06d}"
            folder.mkdir()
            target = folder / dice.choice(["a.JPG", "a.HEIC", "a.AVIF", "a.PNG", "a.WEBP", "a.TIF", "a.GIF", "a.JXL",
                                           "a.CR2", "a.NEF", "a.MOV", "a.MP4"])
            target.write_bytes(damaged())
            sums[target] = digest(target)
        if not installation.wait_until_idle(300):
            faults.append(f"it ended with {installation.daemon.poll()}" if installation.daemon.poll() is not None
                          else "it does not come to rest")
            break
        peak = memory(installation.daemon.pid)
    resting.set()
    answered = installation.daemon.poll() is None
    jobs = installation.every("/v1/jobs") if answered else []
    assets = {a["id"]: a for a in installation.every("/v1/assets")} if answered else {}
    verdicts(f"outlives {len(sums)} damaged files", faults and [*faults, installation.log()[-3000:]])

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
    verdicts(f"no decoder is above its 2 GiB ({heaviest} MiB)", [] if 0 < heaviest <= 2048 else [f"{heaviest} MiB"])
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
