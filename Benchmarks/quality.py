"""Compares the pixels of previews with those of `vipsthumbnail`: which comes nearer to a picture that is decoded in full
and scaled by Lanczos3, as libvips does it. Fifty real photos of the corpus, the largest; G6 of the goals.

Measured is SSIM of the luma, by FFmpeg's filter, which neither side has anything to do with. The demand is against
`vipsthumbnail` with our quality of 82: everything else would compare qualities, not pictures. As it saves by itself, with 75,
it stands beside. Both make 4:2:0 in sRGB. The loss by JPEG's own coding is in both.

The reference is scaled in floating point and rounded once, at the end. In 8 bits, libvips rounds between its two passes, and
would do to the reference what it does to one of the two sides; how that comes out is printed too, below.
"""

import argparse
import concurrent.futures
import csv
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
REFERENCES = {"float": "demand: at least vipsthumbnail's", "uchar": "against a reference in 8 bits"}
SIDES = {"ours": "photospool", "peer": "vipsthumbnail", "usual": "its own Q=75"}
KINDS = {"JPEG", "HEIC", "HEIF", "AVIF", "PNG", "WEBP", "TIFF"}


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout.strip()


def field(file, name):
    return run("vipsheader", "-f", name, file)


def grey_of(picture, grey):
    """Its luma as JPEG has it, ITU-R BT.601: what SSIM is defined on. libvips' own grey is of linear light."""
    if field(picture, "bands") == "1":
        run("vips", "round", picture, f"{grey}.v", "rint")
        run("vips", "cast", f"{grey}.v", grey, "uchar")
        pathlib.Path(f"{grey}.v").unlink()
    else:
        weights = grey.with_suffix(".mat")
        weights.write_text("3 1\n0.299 0.587 0.114\n")
        run("vips", "recomb", picture, f"{grey}.v", weights)
        run("vips", "round", f"{grey}.v", f"{grey}.round.v", "rint")
        run("vips", "cast", f"{grey}.round.v", grey, "uchar")
        for file in (weights, f"{grey}.v", f"{grey}.round.v"):
            pathlib.Path(file).unlink()


def candidates(corpus):
    """(pixels, path) of whatever can be shown, the largest first, each picture once."""
    with open(corpus / "MANIFEST.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    seen = set()
    for row in sorted(rows, key=lambda row: -int(row["width"] or 0) * int(row["height"] or 0)):
        if row["class"] == "import+preview" and row["format"].upper() in KINDS and row["sha256"] not in seen \
                and int(row["width"] or 0) * int(row["height"] or 0) <= 60_000_000:
            seen.add(row["sha256"])
            if (corpus / row["path"]).exists():
                yield corpus / row["path"]


class Photo:
    """One photo, decoded in full by libvips, upright, in sRGB; refused when it has an alpha channel or more than 8 bits,
    or colours that libvips would take for others."""

    def __init__(self, path, work, number):
        self.name = "/".join(path.parts[-2:])
        self.file = work / "in" / f"{number:03}{path.suffix}"
        self.file.symlink_to(path)
        self.whole = work / "whole" / f"{number:03}.v"
        self.number, self.work = number, work

    def decode(self):
        upright = self.whole.with_suffix(".upright.v")
        run("vips", "autorot", self.file, upright)
        try:
            kind = field(upright, "interpretation") + field(upright, "format")
            if "UCHAR" not in kind or not ("_sRGB" in kind or "_B_W" in kind):
                return False
            if int(field(upright, "bands")) not in (1, 3):
                return False
            said = run("vipsheader", "-a", upright)
            self.has_profile = "icc-profile-data" in said
            if "InteroperabilityIndex: R03" in said and not self.has_profile:
                return False  # Adobe RGB, of which libvips knows nothing
            if self.has_profile:
                run("vips", "icc_transform", upright, self.whole, "srgb", "--embedded")
            else:
                upright.rename(self.whole)
            return True
        finally:
            upright.unlink(missing_ok=True)

    def measure(self):
        """SSIM of each side by each reference, which has the side's own size."""
        wholes = {"uchar": self.whole, "float": self.whole.with_suffix(".float.v")}
        run("vips", "cast", self.whole, wholes["float"], "float")
        scaled, reference, luma = (self.work / f"{self.number:03}-{name}" for name in ("s.v", "a.png", "b.png"))
        values, references = {kind: [] for kind in REFERENCES}, {}
        for whose in SIDES:
            made = next((self.work / whose).glob(f"{self.number:03}.*"))
            size = [int(field(made, name)) for name in ("width", "height")]
            grey_of(made, luma)
            for kind in REFERENCES:
                if references.get(kind) != size:
                    across, down = (side / int(field(self.whole, name)) for side, name in zip(size, ("width", "height")))
                    run("vips", "resize", wholes[kind], scaled, across, "--vscale", down, "--kernel", "lanczos3")
                    grey_of(scaled, reference.with_suffix(f".{kind}.png"))
                    references[kind] = size
                said = subprocess.run(
                    ["ffmpeg", "-hide_banner", "-i", reference.with_suffix(f".{kind}.png"), "-i", luma, "-lavfi", "ssim",
                     "-f", "null", "-"], capture_output=True, text=True, check=True).stderr
                values[kind].append(float(re.search(r"SSIM Y:([0-9.]+)", said)[1]))
        wholes["float"].unlink()
        return values


def table(photos, values):
    print(f"G6   {f'SSIM of {len(values)} photos against a full decode scaled by Lanczos3':<70}"
          + "".join(f"{name:>15}" for name in SIDES.values()))
    for photo, row in zip(photos, values):
        print(f"       {photo.name:<68}" + "".join(f"{value:15.4f}" for value in row["float"]))
    for kind, sentence in REFERENCES.items():
        for what, choose in (("median", statistics.median), ("worst", min)):
            row = ours, peer, _ = [choose(column) for column in zip(*(value[kind] for value in values))]
            print(f"       {what:<68}" + "".join(f"{value:15.4f}" for value in row)
                  + f"   {sentence}: {'reached' if ours >= peer else 'missed'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="folder with the release build")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="emptied; takes some 2 GB")
    parser.add_argument("--corpus", type=pathlib.Path, default=pathlib.Path(
        os.environ.get("PHOTOSPOOL_CORPUS", HERE.parent.parent / "shared/corpus")))
    parser.add_argument("--photos", type=int, default=50)
    options = parser.parse_args()
    if not (options.corpus / "MANIFEST.tsv").exists():
        return print("G6   skipped: there is no corpus of photos (PHOTOSPOOL_CORPUS)")
    if missing := [name for name in ("vips", "vipsthumbnail", "vipsheader", "ffmpeg") if not shutil.which(name)]:
        return print(f"G6   skipped: no {', '.join(missing)} (libvips-tools, ffmpeg)")
    programs, work = options.programs.resolve(), options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    for folder in ("in", "whole", *SIDES):
        (work / folder).mkdir(parents=True)
    photos, refused = [], 0
    for path in candidates(options.corpus.resolve()):
        photo = Photo(path, work, len(photos) + refused)
        try:
            is_good = photo.decode()
        except subprocess.CalledProcessError:
            is_good = False  # libvips cannot: then there is nothing to compare with
        if is_good:
            photos.append(photo)
        else:
            refused += 1
        if len(photos) == options.photos:
            break
    files = [photo.file.resolve() for photo in photos]
    # The decoder's file has to be one, and its preview the name of it.
    for photo, file in zip(photos, files):
        photo.file.unlink()
        shutil.copyfile(file, photo.file)
    run(programs / "preview-bench", programs / "photospool-decoder", work / "ours", *(photo.file for photo in photos))
    # Told of a profile to end with, it also changes what has none to start with.
    for has_profile, profile in ((True, ("--eprofile", "srgb")), (False, ())):
        some = [photo.file for photo in photos if photo.has_profile == has_profile]
        for side, options_of_save in (("usual", "strip"), ("peer", "strip,Q=82")):
            run("vipsthumbnail", *some, "-s", "1200x1200>", *profile, "-o", f"{work}/{side}/%s.jpg[{options_of_save}]")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        values = list(pool.map(Photo.measure, photos))
    table(photos, values)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
