#!/usr/bin/env bash
# README's promise: a clone, on a Debian 12 that has nothing but make and Swift, builds, shows its demo and passes its
# tests. As root, then as a user with sudo and from a path with spaces; everything twice, for the second time meets what
# the first left.
#   bare.sh [--as root|user] [TARGET...]     targets of make; demo and test without any
# Root; half an hour on two cores. What is committed is tested, not what lies about.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
. Tests/Rigs/box.sh
box_need_root "make demo and make test in a bare Debian" "$@"

people=(root user)
if [ "${1:-}" = --as ]; then people=("$2"); shift 2; fi
[ $# -gt 0 ] || set -- demo test

swift=$(command -v swift || echo /opt/swift/usr/bin/swift)
toolchain=$(realpath "$(dirname "$(realpath "$swift")")/../..") # holds usr/bin/swift
[ -x "$toolchain/usr/bin/swift" ] || { echo "bare.sh: no Swift toolchain around $swift" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'box_down; rm -rf "$scratch"' EXIT
git -c safe.directory='*' clone --quiet --no-hardlinks . "$scratch/photospool" || exit 1
chmod 755 "$scratch"
box_root root make ca-certificates sudo || exit 1

passed=0 failed=0
# in_box HOME SHELL-COMMAND [ARGUMENT...]: as whom the home belongs to.
in_box() {
    local home=$1 user=root; shift
    [ "$home" = /root ] || user=$(basename "$home")
    box_shell "$root" --bind-ro="$toolchain" --bind-ro="$scratch/photospool:/source" \
        /usr/sbin/runuser -u "$user" -- /usr/bin/env -i HOME="$home" USER="$user" TERM=dumb \
        PATH="/usr/local/bin:/usr/bin:/bin:$toolchain/usr/bin" /bin/bash -c "$@"
}
try() { # who, home, folder, target, which time
    local start=$EPOCHSECONDS log="$scratch/log" took
    if in_box "$2" 'cd "$1" && exec make "$2"' bash "$3" "$4" >"$log" 2>&1; then
        echo -n "ok     make $4 as $1, $5 time"
        passed=$((passed + 1))
    else
        echo -n "FAULT  make $4 as $1, $5 time"
        failed=$((failed + 1))
        [ -z "${PHOTOSPOOL_RIG_LOGS:-}" ] || cp "$log" "$PHOTOSPOOL_RIG_LOGS/$4-$1-$5.log"
    fi
    took=$((EPOCHSECONDS - start))
    printf ' (%d:%02d min)\n' $((took / 60)) $((took % 60))
    if [ "$failed" != "$reported" ]; then
        tail -40 "$log" | sed 's/^/         /'
        reported=$failed
    fi
}
reported=0
for who in "${people[@]}"; do
    home=/root folder=/root/photospool
    if [ "$who" = user ]; then
        in_box /root '/usr/sbin/useradd -m dev && echo "dev ALL=(ALL) NOPASSWD: ALL" > /etc/sudoers.d/dev' || exit 1
        home=/home/dev folder="/home/dev/my photos' spool"
    fi
    in_box "$home" 'mkdir -p "$(dirname "$1")" && cp -r /source "$1"' bash "$folder" || exit 1
    for target in "$@"; do try "$who" "$home" "$folder" "$target" first; done
    for target in "$@"; do try "$who" "$home" "$folder" "$target" second; done
    box_down # the next one starts with nothing installed
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
