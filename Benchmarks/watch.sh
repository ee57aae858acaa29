#!/usr/bin/env bash
# The peer of the watcher: what one writes with inotify-tools when there is no photospool. A line for each file that is
# ready, as far as it can tell: closed, or moved in.
#   watch.sh DROP
set -euo pipefail
inotifywait --monitor --recursive --event close_write --event moved_to --format '%w%f' "$1" |
    while IFS= read -r file; do printf '%s\n' "$file"; done
