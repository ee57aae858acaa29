#!/usr/bin/env bash
# The peer of a verified import: the same promise kept by hand. Copies, each of them on the disk by its own fsync, its
# name by that of its folder; then both, the source and the copy, read from the disk and compared by their SHA-256.
#   byhand.sh DROP LIBRARY LISTS
set -euo pipefail
drop=$1 library=$2 lists=$3
cp -p "$drop"/* "$library"
sync "$library"/* "$library"
# posix_fadvise(2): from here on, reading means the disk. Nothing of it is dirty any more, so that all of it goes.
printf '%s\0' "$drop"/* "$library"/* |
    xargs -0 -P2 -I{} dd of={} oflag=nocache conv=notrunc,fdatasync count=0 status=none
for folder in "$drop" "$library"; do
    (cd "$folder" && printf '%s\0' * | xargs -0 -P2 -n100 sha256sum) | sort -k2 > "$lists/$(basename "$folder")"
done
cmp "$lists/$(basename "$drop")" "$lists/$(basename "$library")"
