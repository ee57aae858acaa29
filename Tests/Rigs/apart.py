"""For rigs that mount filesystems and start machines: they run as root, in namespaces of their own.

All that they start and mount ends with their last process, however that ends: killed, too, they leave no mount, no loop
device and no machine behind, and nothing in /dev/shm, which is their own.
"""
import os, shutil, signal, subprocess, sys, tempfile

inside = "PHOTOSPOOL_RIG_IS_APART"
own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
kept = ("PATH", "LD_PRELOAD", "PHOTOSPOOL_PROGRAMS", "PHOTOSPOOL_CORPUS", "PHOTOSPOOL_RECOVERIES")


def skip(what, why):
    print(f"skipped: {what} ({why})")
    sys.exit(0)


def go(what):
    """Starts the rig anew where it is alone, or says aloud that `what` is skipped."""
    # Where an ordinary user does not look for programs.
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if os.environ.pop(inside, None):
        # /dev/shm may be small, or forbid running what lies there.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm"], check=True)
        tempfile.tempdir = "/dev/shm"
        # Process 1 of its namespace: a signal that it does not await does not reach it.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return
    words = []
    if os.getuid() != 0:
        if not shutil.which("sudo") or subprocess.run(["sudo", "-n", "true"], stderr=subprocess.DEVNULL).returncode:
            skip(what, "needs root, or sudo without a password")
        words = ["sudo", "-n", "env", *(f"{name}={os.environ[name]}" for name in kept if name in os.environ)]
    if subprocess.run([*words, *own, "true"], stderr=subprocess.DEVNULL).returncode:
        skip(what, "needs namespaces of its own")
    words += ["env", f"{inside}=1", *own, sys.executable, *sys.argv]
    sys.stdout.flush()
    os.execvp(words[0], words)


def needs(what, programs):
    """Says aloud that `what` is skipped where one of {program: its package} is missing."""
    missing = {package for program, package in programs.items() if not shutil.which(program)}
    if missing:
        skip(what, "apt-get install " + " ".join(sorted(missing)))
