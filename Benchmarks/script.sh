#!/usr/bin/env bash
# The peer of a whole import: what one writes for a card reader when there is no photospool.
#   script.sh DROP LIBRARY PREVIEWS
set -euo pipefail
drop=$1 library=$2 previews=$3
cp -p "$drop"/* "$library"
sync -f "$library"
printf '%s\0' "$library"/* | xargs -0 -P2 -n50 sha256sum > "$previews/SHA256SUMS"
printf '%s\0' "$library"/* | xargs -0 -P2 -n50 vipsthumbnail -s 1200x1200 -o "$previews/%s.jpg[Q=82]"
