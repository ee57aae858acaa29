#!/usr/bin/env python3
"""Kills the daemon with SIGKILL at random moments of an import, starts it again each time, and counts the photos.

    soak.py [KILLS] [SEED]        100 kills without a number; the seed is printed, and repeats the moments

Photos keep coming into three drop folders: one keeps its sources, one moves them, one deletes them. After each kill
every file in the library has to be a whole photo under a name of its own, and every photo in its drop folder or in the
library. At the end each is in the library once, with its preview, and nothing is left over.
"""
import random, shutil, sqlite3, sys, time

from daemon import Installation, Verdicts, digest, photos

kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
dice = random.Random(seed)
print(f"{kills} kills, seed {seed}", flush=True)

keys = {"keep": "", "move": 'after_import = "move"', "delete": 'after_import = "delete"'}
installation = Installation(keys)
verdicts = Verdicts()
sources = photos()
dropped = {}  # digest: where it was dropped
known = {}  # what a library file was when it was hashed last, and its digest


def drop(count):
    """More photos than there are kinds of: the same picture with a few bytes behind its end is another file."""
    for _ in range(count):
        source = sources[len(dropped) % len(sources)]
        name = dice.choice(list(keys))
        # A folder for each, so that equal names are no group; in the library they meet and have to give way.
        folder = installation.drops[name] / f"{len(dropped):04d}"
        folder.mkdir()
        target = folder / source.name
        shutil.copyfile(source, target)
        if len(dropped) >= len(sources) or digest(target) in dropped:
            with open(target, "ab") as file:
                file.write(f"copy {len(dropped)}".encode())
        dropped[digest(target)] = target


def library():
    """{path: digest} of what a person sees. What did not change since is not read again."""
    found = {}
    for path in installation.visible():
        status = path.stat()
        mark = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if known.get(path, (None,))[0] != mark:
            known[path] = (mark, digest(path))
        found[path] = known[path][1]
    return found


def broken(found):
    for path, sum in found.items():
        if sum not in dropped:
            yield f"{path} is no photo that was dropped: {path.stat().st_size} bytes"
    there = set(found.values())
    if len(there) < len(found):
        yield f"{len(found) - len(there)} photos are in the library twice"
    for sum, source in dropped.items():
        if sum not in there and not (source.exists() and digest(source) == sum):
            yield f"{source} is lost"


started = time.monotonic()
faults, early, moments = [], 0, []
try:
    for number in range(kills):
        drop(dice.randint(1, 3))
        installation.start()
        moments.append(dice.uniform(0, 1.2) ** 2)  # more often early, while the last death is being settled
        time.sleep(moments[-1])
        if installation.daemon.poll() is not None:
            faults.append(f"after kill {number} it ended by itself with {installation.daemon.returncode}")
        installation.kill()
        if len(set(library().values())) < len(dropped):
            early += 1
        faults += [f"kill {number}: {fault}" for fault in broken(library())]
        if faults:
            break
    verdicts(f"{len(moments)} kills, {early} of them with work left, lose nothing and leave nothing partial", faults)

    installation.start()
    calm = installation.wait_until_idle(600)
    verdicts("comes to rest", [] if calm else [installation.log()[-3000:]])
    jobs, assets = installation.every("/v1/jobs"), installation.every("/v1/assets")
    verdicts("stops with 0", [] if (status := installation.stop()) == 0 else [f"exit status {status}"])

    found = library()
    missing = set(dropped) - set(found.values())
    verdicts(f"has all {len(dropped)} photos once", [
        *broken(found), *(f"{dropped[sum]} is not in the library" for sum in missing)])
  
    # Copies of a photo with a content identifier join it, so there may be fewer assets than files.
    listed = [r["path"] for a in assets for r in a["resources"]]
    verdicts("lists each in an asset, with a whole preview where one can be made", [
        *([f"{len(listed)} files in the catalog, {len(found)} in the library"] if len(listed) != len(found) else []),
        *(f"{path} is listed twice" for path in set(listed) if listed.count(path) > 1),
        *(f"asset {a['id']}: preview {a['preview']}" for a in assets if a["preview"]["code"] != "E_UNSUPPORTED" and (
            a["preview"]["state"] not in ("ok", "partial")
            or not (installation.library / a["preview"]["path"]).read_bytes().endswith(b"\xff\xd9"))),
        *(f"asset {a['id']}: {r['path']} is not what is recorded" for a in assets for r in a["resources"]
          if found.get(installation.library / r["path"]) != r["sha256"])])
    verdicts("blames no photo for the deaths", [
        f"job {j['id']}: {j['state']} {j.get('error')}" for j in jobs if j["state"] not in ("imported", "duplicate")])
    verdicts("keeps, moves and deletes sources as told", [
        f"{path} is {'still' if path.exists() else 'no longer'} there" for path in dropped.values()
        if path.exists() != path.is_relative_to(installation.drops["keep"])])
    verdicts("leaves nothing over", map(str, installation.left_over()))
    database = sqlite3.connect(installation.state / "spool.db")
    checks = [row[0] for row in database.execute("PRAGMA integrity_check")]
    database.close()
    verdicts("has a sound database", [] if checks == ["ok"] else [f"integrity_check: {checks}"])
    first, last = min(moments) * 1000, max(moments) * 1000
    print(f"{time.monotonic() - started:.0f} s; kills {first:.0f} to {last:.0f} ms after start")
finally:
    if verdicts.failed:
        print(f"everything is kept in {installation.folder}")
        installation.daemon.poll() is None and installation.kill()
    else:
        installation.remove()
sys.exit(verdicts.end())
