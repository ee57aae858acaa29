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

echo "Dropping $(ls "$here/samples" | wc -l) files into $work/drop"
cp "$here"/samples/* "$work/drop/"
"$bin/photospool" watch --until-idle
echo
"$bin/photospool" status
echo
"$bin/photospool" jobs
echo
echo "Originals:"
(cd "$work/library" && find . -path ./.photospool -prune -o -type f -print | sort | sed "s|^\.|  $work/library|")
echo "Previews:"
find "$work/library/.photospool/previews" -type f | sort | sed 's|^|  |'
echo
echo "The corrupt sample is a failed job, its copy of the source stays in $work/drop; the log is $work/log."
echo "All of it goes with: rm -r '$work'"
