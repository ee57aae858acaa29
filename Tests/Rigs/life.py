"""One life of the machine that deaths.py kills: what the death before left is looked at, photos arrive, the daemon imports.

What begins with @ is meant for deaths.py. The disk is all that outlives the machine.
"""
import json, os, pathlib, subprocess, threading

from daemon import Installation, programs
from promises import broken, unfinished

disk = pathlib.Path("/run/disk")


def say(*words):
    print("@", *words, flush=True)


def listen(log):
    for line in log:
        if "Imported." in line:
            say("imported", line.split("PATH=")[1].strip())
        elif not line.startswith("info:"):
            print(line, end="", flush=True)


def main():
    life = json.loads(pathlib.Path("/mnt/mail/life.json").read_text())
    subprocess.run(["mount", "/dev/ubda", disk], check=True)
    drops = {"keep": "", "move": 'after_import = "move"', "delete": 'after_import = "delete"'}
    installation = Installation(
        drops, settle="10ms", more='[preview]\nmax_size = 64\n[import]\nsweep_after = "1s"\n',
        places={name: disk / name for name in ("library", "state", *drops)})
    pool, photos = disk / "pool", life["photos"]
    for fault in broken(installation, photos, life["acknowledged"], waiting={*os.listdir(pool)}):
        say("fault", fault)
    for number, path in enumerate(sorted(pool.iterdir())[:life["arriving"]]):
        path.rename(installation.drops[list(drops)[number % len(drops)]] / path.name)
    os.sync()
    forgetting = {"LD_PRELOAD": "/mnt/shims/forget.so", "FORGET": life["forget"]} if life["forget"] else {}
    installation.daemon = subprocess.Popen(
        [programs / "photospoold", "--config", installation.folder / "photospool.toml", "--state-dir", installation.state],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **forgetting})
    say("started")
    listener = threading.Thread(target=listen, args=(installation.daemon.stderr,))
    listener.start()
    if life["is_last"]:
        if not installation.wait_until_idle(240):
            say("fault", "it does not come to rest", json.dumps(installation.get("/v1/status")))
        code = installation.stop()
        listener.join()
        if code:
            say("fault", f"the daemon ended with {code}")
        for fault in [*broken(installation, photos, life["acknowledged"]), *unfinished(installation, photos)]:
            say("fault", fault)
        for drop in ("move", "delete"):
            for path in installation.drops[drop].glob("*.JPG"):
                say("fault", f"{path} is still there")
        say("home")
    elif code := installation.daemon.wait():
        say("fault", f"the daemon ended by itself with {code}")


if __name__ == "__main__":
    main()
