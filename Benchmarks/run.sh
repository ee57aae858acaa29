#!/usr/bin/env bash
# Measures the release build against vipsthumbnail and a script; `make bench` calls it. Options are those of bench.py.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
photos=$here/../build/bench/photos

# Beside the sources, not in /tmp: that may be memory, and the daemon's copies shall reach a disk.
"$here/photos.sh" "$photos"
exec python3 "$here/bench.py" --programs "$here/../.build/release" --photos "$photos" --work "$here/../build/bench/work" "$@"
