#!/usr/bin/env bash
# Measures the release build against other programs; `make bench` calls it.
#   run.sh [detect|quality] [OPTION ...]     options are those of bench.py, or of detect.py or quality.py
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# Beside the sources, not in /tmp: that may be memory, and the daemon's copies shall reach a disk.
build=$here/../build/bench
programs=(--programs "${PHOTOSPOOL_PROGRAMS:-$here/../.build/release}" --work "$build/work")

if [ "${1:-}" = detect ]; then
    exec python3 "$here/detect.py" "${programs[@]}" "${@:2}"
fi
if [ "${1:-}" = quality ]; then
    exec python3 "$here/quality.py" "${programs[@]}" "${@:2}"
fi
"$here/photos.sh" "$build/photos"
python3 "$here/bench.py" "${programs[@]}" --photos "$build/photos" "$@"
# Its own options are none of the others'.
[ $# -eq 0 ] || exit 0
python3 "$here/quality.py" "${programs[@]}"
exec python3 "$here/detect.py" "${programs[@]}"
