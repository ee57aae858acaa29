#!/usr/bin/env python3
"""The library's disk fails to write what photos are made of, says so once, and heals: what had failed must not be believed.

    eio.py           with the daemon as it is
    eio.py faults    with one that asks again whether its bytes are on the disk, which then says yes, though they are not

Both in a machine of its own (User-Mode Linux), where a device can be told to fail (dm-flakey). The places of the library's
filesystem that hold its own records stay sound; else it would be over with the first error, and nothing could go wrong.
"""
import ctypes, json, os, pathlib, re, subprocess, sys, time

import apart
from daemon import Installation, Verdicts, programs, variant
from machine import Machine, check
from promises import broken, digest, unfinished

drops = {"keep": "", "move": 'after_import = "move"', "delete": 'after_import = "delete"'}


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **more).stdout


# MARK: In the machine

class Device:
    """/dev/ubda, whose sectors from `sound` on fail to be written while it is ill."""

    def __init__(self, sound):
        modules = next(pathlib.Path("/usr/lib/uml/modules").glob(f"{os.uname().release}/kernel/drivers/md"))
        for name in ("dm-mod", "dm-flakey"):
            with open(modules / f"{name}.ko", "rb") as file:
                if ctypes.CDLL(None, use_errno=True).syscall(313, file.fileno(), b"", 0):  # finit_module
                    raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
        self.sound, self.size = sound, int(pathlib.Path("/sys/block/ubda/size").read_text())
        self.tell("create", "library", "--table", self.table("linear"))

    def tell(self, *words):
        run("dmsetup", *words, env={**os.environ, "DM_DISABLE_UDEV": "1"})

    def table(self, rest):
        more = " 0 3600 1 error_writes" if rest == "flakey" else ""
        return f"0 {self.sound} linear /dev/ubda 0\n" \
               f"{self.sound} {self.size - self.sound} {rest} /dev/ubda {self.sound}{more}\n"

    def be(self, rest):
        self.tell("suspend", "--noflush", "--nolockfs", "library")
        self.tell("load", "library", "--table", self.table(rest))
        self.tell("resume", "library")


def wait(what, installation, holds):
    end = time.monotonic() + 120
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"waited two minutes for {what}\n{installation.log()[-3000:]}")
        time.sleep(0.1)


def inside():
    mail = json.loads(pathlib.Path("/mnt/mail/eio.json").read_text())
    device, disk, photos, verdicts = Device(mail["sound"]), pathlib.Path("/run/disk"), {}, Verdicts()
    # Nothing is written but what somebody waits for: the directories of the library, which lie where the disk is ill, would
    # make an end of it.
    pathlib.Path("/proc/sys/vm/dirty_writeback_centisecs").write_text("0")
    run("mount", "/dev/ubdb", disk)
    (disk / "library").mkdir()
    run("mount", "/dev/mapper/library", disk / "library")
    (disk / "library/lost+found").rmdir()
    installation = Installation(
        drops, settle="10ms", more="[preview]\nmax_size = 64\n",
        places={name: disk / name for name in ("library", "state", *drops)})
    if mail["forget"]:
        os.environ.update(LD_PRELOAD="/mnt/shims/forget.so", FORGET=mail["forget"])
    installation.start()
    queue = lambda: installation.get("/v1/status")["queue"]

    def arrive(name, number):
        path = installation.drops[name] / f"IMG_{number:04}.JPG"
        path.write_bytes(variant(number, f"photo {number}"))
        photos[digest(path)] = path.name

    wait("the daemon", installation, lambda: (installation.folder / "socket").exists())
    for number, name in enumerate(drops):
        arrive(name, number)
    wait("the first photos", installation, lambda: queue()["imported"] == 3)
    device.be("flakey")
    for number, name in enumerate([*drops] * 2, 3):
        arrive(name, number)
    if mail["forget"]:
        wait("the others to be believed", installation, lambda: queue()["imported"] == 9)
    else:
        failed = lambda: {*re.findall(r"CODE=E_LIBRARY_IO .* JOB_ID=(\d+)", installation.log())}
        wait("every photo to have failed once", installation, lambda: len(failed()) == 6)
        codes = {*re.findall(r"CODE=(\w+)", installation.log())}
        sources = sum(1 for drop in installation.drops.values() for _ in drop.glob("IMG_000[3-8].JPG"))
        verdicts("a disk that fails to write: no import is said, each source stays, each job says why", [
            *([f"{queue()['imported']} imported"] if queue()["imported"] != 3 else []),
            *([f"{sources} of 6 sources are there"] if sources != 6 else []),
            *([f"the log says {codes}"] if codes != {"E_LIBRARY_IO"} else []),
            *broken(installation, photos, [])])
    device.be("linear")
    wait("the others to be imported", installation, lambda: queue()["imported"] == 9)
    installation.wait_until_idle(60)
    code = installation.stop()
    # What the medium holds, and not what memory remembers of it.
    run("umount", disk / "library")
    run("mount", "/dev/mapper/library", disk / "library")
    found = [*broken(installation, photos, []), *unfinished(installation, photos)]
    if mail["forget"]:
        lost = sum(fault.startswith("LOST") for fault in found)
        verdicts(f"a daemon that asks again: {lost} photos are lost", [] if lost else ["not one fault was seen"])
    else:
        verdicts("once it heals: all are copied anew, and whole on the medium", found + [f"exit status {code}"] * bool(code))
    return verdicts.end()


# MARK: Around it

def main():
    if sys.argv[1:] == ["inside"]:
        return inside()
    forget = "errors cache" if sys.argv[1:] == ["faults"] else ""
    apart.go("a disk that fails to write")
    check("a disk that fails to write")
    apart.needs("a disk that fails to write", {"dmsetup": "dmsetup"})
    machine = Machine("eio.py inside")
    library, rest = machine.folder / "library", machine.folder / "rest"
    for disk in (library, rest):
        with open(disk, "wb") as file:
            file.truncate(96 << 20)
    run("mkfs.ext4", "-q", "-F", rest)
    # All its own records in front.
    run("mkfs.ext4", "-q", "-F", "-b", 4096, "-J", "size=4", "-N", 512, "-O", "^resize_inode",
        "-E", "packed_meta_blocks=1,lazy_itable_init=0", library)
    first = re.search(r"Free blocks: (\d+)-", run("dumpe2fs", library))[1]
    (machine.mail / "eio.json").write_text(json.dumps({"sound": int(first) * 8, "forget": forget}))
    console, _ = machine.boot(library, rest).communicate(timeout=600)
    lines = console.decode(errors="replace").replace("\r", "").splitlines()
    print("\n".join(line for line in lines if not line.startswith(("@ ", "sysrq", "reboot"))))
    return 0 if "@ ended with 0" in lines else 1


if __name__ == "__main__":
    sys.exit(main())
