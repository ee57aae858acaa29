#!/usr/bin/env python3
"""Fuzzes each parser of ours with libFuzzer under AddressSanitizer; `make fuzz` calls it.

    run.py PROGRAM SECONDS [PARSER ...]     all parsers without a name; two at a time

What a parser trips over is kept in build/fuzz, as PARSER-crash-..., -timeout-... or -oom-...; the program given that file
repeats it, with the parser's name in PHOTOSPOOL_PARSER. What it learned is kept beside it and is where the next run starts.
"""
import concurrent.futures, os, pathlib, re, subprocess, sys, tempfile

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "Rigs"))
from daemon import photos

program, seconds, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
kept = here.parent.parent / "build/fuzz"
kinds = {
    "jpeg": ("jpeg", "jpeg-orientation", "metadata", "oddities"), "heif": ("heic", "avif"), "chunks": ("png", "webp"),
    "raw": ("raw", "tiff"), "movie": ("video",), "sidecar": ("sidecars", "pairs"),
}
# A parser that reads many formats is run for each family of them: what is learned of one helps no other.
runs = {f"{parser}-{family}": (parser, family) for parser, families in {
    "facts": ("jpeg", "heif", "chunks", "raw", "movie", "sidecar"), "carried": ("jpeg", "heif", "chunks"), "embedded": ("raw",),
    "stills": ("jpeg", "heif", "chunks", "raw")}.items() for family in families}
runs |= {parser: (parser, None) for parser in ("wire", "result", "names", "zone", "events", "intent")}


def seeds(family, folder):
    """Few and small ones: libFuzzer looks at every byte many times."""
    if family is None:
        return []
    found = sorted((path for path in photos(kinds[family]) if path.stat().st_size < 400_000), key=lambda p: p.stat().st_size)
    for number, path in enumerate(found[:80]):
        (folder / f"{number:03}").write_bytes(path.read_bytes())
    return [folder]


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
