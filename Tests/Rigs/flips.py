#!/usr/bin/env python3
"""Lets the disk of the library go bad between writing and verification, and counts what is believed.

    flips.py [COUNT]                100 photos without a number; needs root, for a filesystem in an image

As soon as a copy was synced, a bit of it turns over in the image, beneath every cache. Each has to be seen before its
source is deleted. planted.py does the same with a daemon that reads its copies back from the cache.
"""
import os, pathlib, subprocess, sys

from daemon import Installation, Verdicts, digest, preloaded, programs, variant


def run(shim, environment, count):
    """(bits turned over, wrong originals in the library, photos that are nowhere, what the daemon said)"""
    installation = Installation({"drop": 'after_import = "delete"'}, more="[preview]\nmax_size = 64\n")
    image, tally = installation.folder / "image", installation.folder / "tally"
    tally.touch()
    try:
        with open(image, "wb") as file:
            file.truncate(256 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, installation.library], check=True)
        (installation.library / "lost+found").rmdir()
        photos = {}
        for number in range(count):
            path = installation.drops["drop"] / f"IMG_{number:04}.JPG"
            path.write_bytes(variant(0, f"photo {number}"))
            photos[digest(path)] = path
        daemon = subprocess.run(
            [programs / "photospoold", "--config", installation.folder / "photospool.toml", "--state-dir",
             installation.state, "--once"],
            capture_output=True, text=True,
            env={**os.environ, "LD_PRELOAD": shim, "FLIP_IMAGE": str(image), "FLIP_COUNT": str(tally), **environment})
        # What the medium holds, and not what memory remembers of it.
        subprocess.run(["umount", installation.library], check=True)
        subprocess.run(["mount", "-o", "loop", image, installation.library], check=True)
        imported = [digest(path) for path in installation.visible()]
        wrong = [sum for sum in imported if sum not in photos]
        gone = [sum for sum, path in photos.items() if not path.exists() and sum not in imported]
        return tally.stat().st_size, wrong, gone, daemon.stderr
    finally:
        subprocess.run(["umount", "-l", installation.library], check=False)
        installation.remove()


def is_possible():
    if os.getuid() == 0 and pathlib.Path("/dev/loop-control").exists():
        return True
    print("skipped: bits that turn over (it needs root, and loop devices)")
    return False


def main():
    if not is_possible():
        return 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    verdicts = Verdicts()
    with preloaded("forget.c") as shim:
        turned, wrong, gone, log = run(shim, {}, count)
        verdicts(
            f"{turned} of {count} copies went bad on the medium before they were verified: {len(wrong)} were believed, "
            f"{len(gone)} photos are gone",
            [f"{len(wrong)} wrong originals"] * bool(wrong) + [f"{len(gone)} photos gone"] * bool(gone)
            + [f"only {turned} went bad"] * (turned < count)
            + ["nobody spoke of it"] * ("E_VERIFY_MISMATCH" not in log))
    return verdicts.end()


if __name__ == "__main__":
    sys.exit(main())
