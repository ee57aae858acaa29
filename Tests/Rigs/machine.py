"""A machine of its own for a rig: a kernel (User-Mode Linux) on the files of this one, which it cannot change, with the
programs under test and disks that are files here."""
import os, pathlib, shutil, subprocess, tempfile

import apart
from daemon import here, programs, preloaded

init = """#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 PHOTOSPOOL_PROGRAMS=/run/programs
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir /dev/shm /run/disk /run/programs
mount -t tmpfs tmpfs /dev/shm
touch /run/programs/photospoold
mount --bind /mnt/programs/photospoold /run/programs/photospoold
cat > /run/programs/photospool-decoder <<'DECODER'
#!/bin/sh
LD_PRELOAD=/mnt/shims/nolandlock.so exec /mnt/programs/photospool-decoder "$@"
DECODER
chmod +x /run/programs/photospool-decoder
/usr/bin/python3 /mnt/tests/Rigs/@program@ 2>&1
echo "@ ended with $?"
echo o > /proc/sysrq-trigger
sleep 60
"""


def check(what):
    """Says aloud that `what` is skipped where there can be no such machine."""
    apart.needs(what, {"linux.uml": "user-mode-linux", "mkfs.ext4": "e2fsprogs", "cc": "gcc"})
    with open(programs / "photospoold", "rb") as file:
        if b"__tsan_init" in file.read():
            apart.skip(what, "a sanitizer's daemon does not run in User-Mode Linux")


class Machine:
    """Runs `program` of Tests/Rigs, which finds in /mnt: `tests`, `programs`, `shims` to be preloaded, and what is put into `mail`."""

    def __init__(self, program):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="photospool-machine-"))
        root = self.folder / "root"
        root.mkdir()
        run = lambda *words: subprocess.run(["mount", *words], check=True)
        run("--rbind", "/", root)
        # A folder that every Debian has, for things that it has not.
        run("-t", "tmpfs", "tmpfs", root / "mnt")
        self.mail = root / "mnt/mail"
        for name, source in (("programs", programs), ("tests", here.parent)):
            (root / "mnt" / name).mkdir()
            run("--bind", source.resolve(), root / "mnt" / name)
        (root / "mnt/shims").mkdir()
        for name in ("nolandlock", "forget"):
            with preloaded(f"{name}.c") as library:
                shutil.copyfile(library, root / f"mnt/shims/{name}.so")
        self.mail.mkdir()
        (root / "mnt/init").write_text(init.replace("@program@", program))
        (root / "mnt/init").chmod(0o755)

    def boot(self, *disks):
        """Its process, whose output is the console. It leads a group of its own, so that all of it can be killed at once."""
        return subprocess.Popen(
            ["linux.uml", "mem=512M", *(f"ubd{number}={disk}" for number, disk in enumerate(disks)), "rootfstype=hostfs",
             "root=/dev/root", f"rootflags={self.folder}/root", "ro", "con=null", "con0=null,fd:1", "init=/mnt/init",
             f"uml_dir={self.folder}", "quiet", "loglevel=1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            # The machine's memory is a file there.
            env={**os.environ, "TMPDIR": str(self.folder), "LD_PRELOAD": ""})
