"""What nas.sh runs in its machine: a server of each kind, its share mounted beside it, and the daemon on both.

Photos are written where the server keeps them, so no event tells of them. Imports are paused: what counts is the queue.
"""
import os, pathlib, shutil, subprocess, sys, time

from daemon import Installation, Unanswered, Verdicts

disk = pathlib.Path("/mnt/disk")
shares = ("nfs", "smb")
poll, settle = 1, 10  # s; without a lease on NFS, and for a share in general, settle is ten
slack = 6  # for this machine, which is a process among others


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL)


def serve():
    disk.mkdir(parents=True, exist_ok=True)
    run("mount", "/dev/ubda", disk)
    for name in shares: (disk / name).mkdir()
    run("modprobe", "nfsd")
    run("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
    run("mount", "-t", "tmpfs", "tmpfs", "/var/lib/nfs")
    for folder in ("sm", "v4recovery"): pathlib.Path("/var/lib/nfs", folder).mkdir()
    for file in ("etab", "rmtab", "xtab", "state"): pathlib.Path("/var/lib/nfs", file).touch()
    run("exportfs", "-o", "rw,sync,no_root_squash,insecure,fsid=0,no_subtree_check", f"*:{disk}/nfs")
    run("rpc.mountd", "-N", "3")
    run("rpc.nfsd", "-N", "3", "-V", "4.2", "2")
    settings = pathlib.Path("/run/smb.conf")
    settings.write_text(
        "[global]\nserver role = standalone server\nmap to guest = bad user\nguest account = root\ninterfaces = lo\n"
        "bind interfaces only = yes\nprivate dir = /run/samba\nlock directory = /run/samba\nstate directory = /run/samba\n"
        "cache directory = /run/samba\npid directory = /run/samba\nncalrpc dir = /run/samba\nload printers = no\n"
        f"disable spoolss = yes\nlog file = /run/samba/log\n[disk]\npath = {disk}/smb\nguest ok = yes\nread only = no\n"
        "force user = root\n")
    run("smbd", "-D", "-s", settings)


def mount(name, at):
    # A server that has just been started may not answer yet.
    words = {"nfs": ["-t", "nfs4", "-o", "hard,timeo=50", "127.0.0.1:/"],
             "smb": ["-t", "cifs", "-o", "guest,vers=3.1.1", "//127.0.0.1/disk"]}[name]
    wait(f"{name} to be mounted", 60, lambda: subprocess.run(["mount", *words, at], stderr=subprocess.DEVNULL).returncode == 0)


def wait(what, limit, holds):
    """Seconds until it holds; too long is a fault of its scenario."""
    started = time.monotonic()
    while not holds():
        if time.monotonic() - started > limit: raise TimeoutError(f"waited {limit} s for {what}")
        time.sleep(0.1)
    return time.monotonic() - started


written = {}  # path below the share's folder on the disk: number


def put(name, path):
    """A photo, as the server's own user puts it there."""
    target = disk / name / path
    target.parent.mkdir(parents=True, exist_ok=True)
    number = len(written)
    target.write_bytes(sample + b"number %d" % number)
    written[name, path] = number


def queued(installation):
    """Paths below the drop folders, for each job one."""
    found = []
    for job in installation.every("/v1/jobs"):
        path = pathlib.Path(job["files"][0]["path"])
        found.append((job["drop"], str(path.relative_to(installation.drops[job["drop"]]))))
    return found


def drop(installation, name):
    return next(drop for drop in installation.get("/v1/status")["drops"] if drop["name"] == name)


def main():
    serve()
    keys = f'poll_interval = "{poll}s"\nrescan_interval = "1h"'
    # All on the disk: the root of this machine is the host's, where a lease says nothing.
    installation = Installation({"nfs": keys, "smb": keys, "local": ""}, base=disk)
    for name in shares: mount(name, installation.drops[name])
    verdicts = Verdicts()

    def scenario(sentence, body):
        try:
            faults = body() or []
        except (TimeoutError, Unanswered) as error:
            faults = [str(error), f"queue: {queued(installation)}", installation.log()[-1500:]]
        verdicts(sentence, faults)

    def expect(limit):
        """Everything that was written is in the queue in time, each once."""
        seconds = wait(f"{len(written)} jobs", limit, lambda: len(queued(installation)) >= len(written))
        time.sleep(2 * poll)  # whatever is one too many has its chance
        jobs = sorted(queued(installation))
        missing, doubled = set(written) - set(jobs), len(jobs) - len(set(jobs))
        print(f"         {seconds:.1f} s")
        return [*(f"{path} was missed" for path in missing), *([f"{doubled} were queued twice"] if doubled else [])]

    installation.start()
    wait("the daemon", 60, lambda: answers(installation))
    installation.post("/v1/pause")
    wait("the first scan", 30, lambda: all(drop(installation, name)["health"] != "waiting" for name in shares))

    def arrive():
        for name in shares:
            for number in range(10): put(name, f"IMG_{number}.JPG")
            for number in range(10): put(name, f"DCIM/100CANON/IMG_{number}.JPG")
        return expect(poll + settle + slack)
    scenario("finds photos that were written on the servers, in time, each once", arrive)

    def told():
        status = installation.get("/v1/status")
        codes = {reason["code"] for reason in status["reasons"]}
        return [*(f"{d['name']}: {d['mode']}, {d['watches']} watches" for d in status["drops"]
                  if d["name"] in shares and (d["mode"] != "poll" or d["watches"])),
                *([f"no W_LEASE_UNKNOWN in {codes}"] if "W_LEASE_UNKNOWN" not in codes else [])]
    scenario("says that it polls, and that nobody can tell of a writer", told)

    def replaced():
        """As an upload ends: under another name, then over the old one."""
        for name in shares:
            temporary = disk / name / ".IMG_3.JPG.part"
            temporary.write_bytes(sample + b"another version")
            temporary.rename(disk / name / "IMG_3.JPG")
        wait("the other versions", poll + settle + slack,
             lambda: all(queued(installation).count((name, "IMG_3.JPG")) == 2 for name in shares))
        for name in shares: written[name, "IMG_3.JPG"] = "again"
    scenario("finds another version under an old name", replaced)
    before = len(queued(installation))

    def away():
        for name in shares: wait(f"umount {name}", 10, lambda: umounts(installation.drops[name]))
        for name in shares: put(name, "IMG_AWAY.JPG")
        time.sleep(3 * poll)
        faults = [f"{len(queued(installation)) - before} jobs came from nowhere"] if len(queued(installation)) != before else []
        for name in shares: mount(name, installation.drops[name])
        wait("the new photos", poll + settle + slack, lambda: len(queued(installation)) >= before + len(shares))
        time.sleep(2 * poll)
        jobs = queued(installation)
        if len(jobs) != before + len(shares): faults.append(f"{len(jobs)} jobs, expected {before + len(shares)}")
        return [*faults, *(f"{name}: IMG_AWAY.JPG was missed" for name in shares if (name, "IMG_AWAY.JPG") not in jobs)]
    scenario("lets a share be unmounted, and knows every photo when it is back", away)

    def cut():
        """No packet reaches a server: every call on a share waits."""
        before = len(queued(installation))
        run("ip", "link", "set", "lo", "down")
        try:
            for name in shares: put(name, "IMG_CUT.JPG")
            time.sleep(3 * poll)
            (installation.drops["local"] / "IMG_LOCAL.JPG").write_bytes(sample)
            seconds = wait("the local photo", 10, lambda: ("local", "IMG_LOCAL.JPG") in queued(installation))
            print(f"         local photo after {seconds:.1f} s")
            wait("the silence to be said", 60, lambda: any(
                drop(installation, name)["health"] != "ok" for name in shares))
            if drop(installation, "local")["health"] != "ok": return ["the local folder is said to be ill"]
        finally:
            run("ip", "link", "set", "lo", "up")
        # The clients ask again in growing gaps, up to a minute.
        wait("the other photos", 150, lambda: all((name, "IMG_CUT.JPG") in queued(installation) for name in shares))
        wait("health", 60, lambda: all(drop(installation, name)["health"] == "ok" for name in shares))
        jobs = queued(installation)
        return [f"{len(jobs) - before - 3} jobs too many"] if len(jobs) != before + 3 else []
    scenario("goes on beside shares that hang, says so, and takes up with them when they answer", cut)

    verdicts("stops with 0", [] if (status := installation.stop()) == 0 else [f"exit status {status}"])
    return verdicts.end()


def answers(installation):
    try:
        return installation.get("/v1/status")["state"] != "starting"
    except Unanswered:
        return False


def umounts(path):
    return subprocess.run(["umount", path], stderr=subprocess.DEVNULL).returncode == 0


sample = b"\xff\xd8\xff\xe0photo"
if __name__ == "__main__":
    sys.exit(main())
