#!/usr/bin/env python3
"""Fuzzes each parser of ours with libFuzzer under AddressSanitizer; `make fuzz` calls it.

    run.py PROGRAM SECONDS [PARSER ...]     all parsers without a name; two at a time

What a parser trips over is kept in build/fuzz, as PARSER-crash-..., -timeout-... or -oom-...; the program given that file
repeats it, with the parser's name in PHOTOSPOOL_PARSER. What it learned is kept beside it and is where the next run starts.
"""
import concurrent.futures, json, os, pathlib, re, struct, subprocess, sys, tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "Rigs"))
from daemon import photos

program, seconds, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
kept = here.parent.parent / "build/fuzz"
kinds = {
    "jpeg": ("jpeg", "jpeg-orientation", "metadata", "oddities"), "heif": ("heic", "avif"), "chunks": ("png", "webp"),
    "raw": ("raw", "tiff"), "notes": ("jpeg",), "movie": ("video",), "sidecar": ("sidecars", "pairs"),
}
# A parser that reads many formats is run for each family of them: what is learned of one helps no other.
runs = {f"{parser}-{family}": (parser, family) for parser, families in {
    "facts": ("jpeg", "heif", "chunks", "raw", "movie", "sidecar", "takeout", "matroska", "camcorder", "motion"),
    "carried": ("jpeg", "heif", "chunks", "raw"), "excerpt": ("exif",), "parameters": ("bits",),
    "embedded": ("raw", "notes"), "stills": ("jpeg", "heif", "chunks", "raw")}.items() for family in families}
runs |= {parser: (parser, None) for parser in ("wire", "result", "names", "zone", "events", "intent")}


def seeds(family, folder):
    """Few and small ones: libFuzzer looks at every byte many times."""
    if family is None:
        return []
    if family in made:
        for number, data in enumerate(made[family]()):
            (folder / f"{number:03}").write_bytes(data[:100_000])
        return [folder]
    sound = set(photos(kinds[family]))
    if family in ("raw", "notes"):  # heads of RAW files without a picture have maker notes all the same
        sound |= {head for folder in {path.parent.parent / "raw" for path in sound} for head in folder.glob("*.*")}
    found = sorted((path for path in sound if path.stat().st_size < 400_000), key=lambda p: (p.stat().st_size, p))
    for number, path in enumerate(found[:80]):
        content = path.read_bytes()
        if family == "notes":  # from its EXIF on it is a TIFF with a maker note, as a RAW is
            content = content[content.find(b"Exif\0\0") + 6 if b"Exif\0\0" in content else 0:]
        (folder / f"{number:03}").write_bytes(content)
        if family == "heif" and number < 8:
            (folder / f"{number:03}-mapped").write_bytes(tone_mapped(content))
    return [folder]


def tone_mapped(data):
    """The photo below a tone map, of which the corpus has none: boxes of that are added to the one that describes it."""
    def box(name, content):
        return struct.pack(">I", 8 + len(content)) + name + content

    def parts(start, end):
        while start + 8 <= end and (length := int.from_bytes(data[start:start + 4], "big")) >= 8:
            yield data[start + 4:start + 8], start + 8, data[start + 8:start + length]
            start += length

    name, place, meta = next(part for part in parts(0, len(data)) if part[0] == b"meta")
    boxes = {name: content for name, _, content in parts(place + 4, place + len(meta))}
    number, photo = struct.pack(">H", 60_000), boxes[b"pitm"][4:6]
    boxes[b"pitm"] = boxes[b"pitm"][:4] + number
    infos = boxes[b"iinf"]
    if infos[0] == 0:
        infos = infos[:4] + struct.pack(">H", int.from_bytes(infos[4:6], "big") + 1) + infos[6:]
    boxes[b"iinf"] = infos + box(b"infe", b"\2\0\0\0" + number + b"\0\0tmap\0")
    boxes[b"iref"] = boxes.get(b"iref", bytes(4)) + box(b"dimg", number + b"\0\2" + photo + photo)
    content = meta[:4] + b"".join(box(*entry) for entry in boxes.items())
    return data[:place - 4] + b"free" + data[place:] + box(b"meta", content)


def of_corpus(pattern):
    """Also what gets no preview."""
    corpus = os.environ.get("PHOTOSPOOL_CORPUS", here.parent.parent.parent / "shared/corpus")
    return [path.read_bytes() for path in sorted(pathlib.Path(corpus).glob(pattern))]


def stream(name, *options):
    """A second of a film, as ffmpeg writes it."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=5:duration=1", *options,
                        "-metadata", "creation_time=2021-07-01T22:30:05Z", path], check=True)
        return path.read_bytes()


def takeout():
    place = {"latitude": 48.137, "longitude": -11.575, "altitude": 0.0}
    return of_corpus("pairs/takeout/*.json") + [json.dumps(whole).encode() for whole in (
        {"title": "IMG_1.JPG", "photoTakenTime": {"timestamp": "1617923095", "formatted": "a \u00fc"}, "geoData": place},
        {"list": [1, [{"a": None}], True], "photoTakenTime": {"timestamp": "-1"}, "geoDataExif": place})]


def matroska():
    return [stream("a.mkv", "-c:v", "libx264", "-aspect", "4:3"), stream("a.webm", "-c:v", "libvpx")]


def camcorder():
    """One of a camera, for its own data in the stream, and what ffmpeg writes."""
    camera = [data[:192 * 100] for data in of_corpus("video/*.mts")]
    return camera + [stream("a.mts", "-c:v", "libx264", "-f", "mpegts"),
                     stream("a.m2ts", "-c:v", "libx264", "-f", "mpegts", "-mpegts_m2ts_mode", "1")]


def bits():
    """From each set of parameters on."""
    codings = (["-pix_fmt", "yuv420p"], ["-pix_fmt", "yuv444p"], ["-profile:v", "high422", "-pix_fmt", "yuv422p"],
               ["-pix_fmt", "yuv420p", "-flags", "+ilme+ildct"], ["-profile:v", "baseline", "-pix_fmt", "yuv420p"])
    return [stream("a.h264", "-c:v", "libx264", *coding)[:200] for coding in codings]


def exif():
    """The blocks of small photos."""
    blocks = []
    for path in photos(("jpeg", "metadata")):
        data = path.read_bytes()
        start = data.find(b"Exif\0\0")
        if 0 <= start < 64 and len(blocks) < 40:
            blocks.append(data[start + 6:start - 2 + int.from_bytes(data[start - 2:start], "big")])
    return blocks


def motion():
    """The three ways in which a photo holds its video."""
    def xmp(text):
        packet = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta><rdf:RDF><rdf:Description " + text + b"</rdf:RDF></x:xmpmeta>"
        return b"\xff\xe1" + (len(packet) + 2).to_bytes(2, "big") + packet
    picture, movie = stream("a.jpg", "-frames:v", "1"), stream("a.mp4", "-c:v", "mpeg4", "-frames:v", "1")
    micro = b'GCamera:MicroVideo="1" GCamera:MicroVideoOffset="%d"/>' % len(movie)
    item = (b'Camera:MotionPhoto="1"><Container:Item Item:Semantic="MotionPhoto" Item:Length="%d"/></rdf:Description>'
            % len(movie))
    little = lambda number, width: number.to_bytes(width, "little")
    data = little(0, 2) + little(0x0A30, 2) + little(16, 4) + b"MotionPhoto_Data" + movie
    trailer = b"SEFH" + little(107, 4) + little(1, 4) + little(0, 2) + little(0x0A30, 2) + little(len(data), 4) * 2
    samsung = picture + data + trailer + little(len(trailer), 4) + b"SEFT"
    heif = [path.read_bytes() for path in sorted(photos(("heic",)), key=lambda path: path.stat().st_size)[:2]]
    return [picture[:2] + xmp(text) + picture[2:] + movie for text in (micro, item)] + [samsung] + [
        whole + (len(movie) + 8).to_bytes(4, "big") + b"mpvd" + movie for whole in heif]


# What the corpus has none of, or too few, or too large ones.
made = {"takeout": takeout, "matroska": matroska, "camcorder": camcorder, "bits": bits, "exif": exif, "motion": motion}


def fuzz(name):
    parser, family = runs[name]
    learned = kept / "learned" / name
    learned.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        extra = ["/usr/share/zoneinfo/Europe"] if parser == "zone" else seeds(family, pathlib.Path(folder))
        run = subprocess.run(
            [program, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=400000",
             f"-artifact_prefix={kept}/{name}-", "-print_final_stats=1", learned, *extra],
            capture_output=True, text=True, errors="replace",
            env={**os.environ, "PHOTOSPOOL_PARSER": parser, "SWIFT_BACKTRACE": "enable=no"})
    done = re.search(r"stat::number_of_executed_units: +(\d+)", run.stderr)
    coverage = re.findall(r"cov: (\d+)", run.stderr)
    what = f"{int(done[1]) if done else 0:>10} inputs, {coverage[-1] if coverage else 0:>5} edges"
    if run.returncode == 0 and not coverage:
        return name, what, "it sees nothing of the parser: built without coverage"
    return name, what, None if run.returncode == 0 else run.stderr[-3000:]


def main():
    names = [name for name in runs if not wanted or name in wanted or runs[name][0] in wanted]
    if not names:
        sys.exit(f"no such parser; there are {' '.join(runs)}")
    findings = 0
    with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        for name, what, fault in pool.map(fuzz, names):
            findings += fault is not None
            print(f"{'FAULT ' if fault else 'ok    '} {name:14} {seconds} s, {what}", flush=True)
            if fault:
                print(fault, flush=True)
    print(f"{len(names)} parsers, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
