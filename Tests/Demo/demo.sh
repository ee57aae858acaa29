#!/usr/bin/env bash
# Starts the daemon on temporary folders, drops in the bundled sample photos, shows progress, and tells where all went.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "$here/../../.build/release" && pwd)

work=$(mktemp -d "${TMPDIR:-/tmp}/photospool-demo.XXXXXX")
mkdir -p "$work"/{drop,library,state,run}
cat > "$work/photospool.toml" <<TOML
[library]
path = "$work/library"
reserve_free = "0"

[[drop]]
name = "demo"
path = "$work/drop"
settle = "500ms"
group_wait = "1s"

[control]
socket = "$work/run/control.sock"
TOML
export PHOTOSPOOL_SOCKET="$work/run/control.sock"

"$bin/photospoold" --config "$work/photospool.toml" --state-dir "$work/state" 2> "$work/log" &
daemon=$!
stop() { kill "$daemon" 2>/dev/null && wait "$daemon" 2>/dev/null || true; }
trap stop EXIT
for _ in $(seq 100); do
    "$bin/photospool" status >/dev/null 2>&1 && break
    kill -0 "$daemon" 2>/dev/null || { echo "The daemon did not start:" >&2; cat "$work/log" >&2; exit 1; }
    sleep 0.1
done

say() { printf '\n%s\n' "$1"; }
files() { (cd "$1" && find . -path ./.photospool -prune -o -type f -print | sort | sed 's|^\./|  |'); }

echo "Dropping $(ls "$here/samples" | wc -l) files into $work/drop: one twice, one damaged."
cp "$here"/samples/* "$work/drop/"
# It ends with 1 when a photo failed, and here one has to.
code=0
"$bin/photospool" watch --until-idle || code=$?
[ "$code" = 1 ] || { echo "The damaged photo was not reported; watch ended with $code." >&2; exit 1; }

say "\$ photospool status"
"$bin/photospool" status
say "\$ photospool assets"
"$bin/photospool" assets
say "\$ photospool jobs --state failed"
"$bin/photospool" jobs --state failed
say "Originals, in $work/library:"
files "$work/library"
say "Previews, in $work/library/.photospool/previews:"
files "$work/library/.photospool/previews"
say "Sources, kept in $work/drop:"
files "$work/drop"
say "The daemon's log is $work/log. All of it goes with: rm -r '$work'"
