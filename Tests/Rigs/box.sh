# shellcheck shell=bash
# A box: a throw-away Debian 12 in a container, with a systemd of its own when wanted. Sourced by the rigs, which are
# therefore free to run where process 1 is no systemd. Needs root, mmdebstrap and systemd-container.
#
#   box_need_root WHAT "$@"         goes on as root, by sudo if need be; says so and ends when that cannot be
#   box_root VARIABLE PACKAGE...    the path of a root with these packages; made once, kept in $PHOTOSPOOL_RIGS
#   box_boot ROOT [nspawn options]  boots it; what is written goes to a layer above ROOT and vanishes with the box
#   box COMMAND...                  runs in the booted box, as root, with an empty environment
#   box_shell ROOT [options] CMD..  runs one command in ROOT without booting it; the layer stays for the next one
#   box_down                        ends the booted box and removes the layer; call it from a trap

box_store=${PHOTOSPOOL_RIGS:-/var/tmp/photospool-rigs}
box_name=
box_layer=
box_process=
box_init=
# systemd-nspawn refuses the decoder's sandbox its calls, unless they are named.
box_calls=(--system-call-filter="landlock_create_ruleset landlock_add_rule landlock_restrict_self")

box_need_root() {
    local what=$1; shift
    if [ "$(id -u)" != 0 ]; then
        if sudo -n true 2>/dev/null || { [ -t 0 ] && sudo true; }; then
            exec sudo --preserve-env=PATH,PHOTOSPOOL_RIGS,PHOTOSPOOL_RIG_MIRROR -- "$0" "$@"
        fi
        echo "skipped: $what (needs root)"
        exit 0
    fi
    local missing=()
    command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
    command -v systemd-nspawn >/dev/null || missing+=(systemd-container)
    if [ ${#missing[@]} -gt 0 ]; then
        echo "skipped: $what (apt-get install ${missing[*]})"
        exit 0
    fi
}

box_root() {
    local -n box_found=$1; shift
    local packages; packages=$(printf '%s\n' "$@" | sort -u | paste -sd,)
    local name; name=$(printf '%s' "$packages" | sha256sum | cut -c1-12)
    box_found=$box_store/root-$name
    [ ! -e "$box_found/.whole" ] || return 0
    echo "Making a Debian 12 root in $box_found (once)"
    rm -rf "$box_found"
    mkdir -p "$box_store"
    # This machine's way to the archive. mmdebstrap leaves it in the root for apt there.
    local options=()
    while read -r line; do options+=(--aptopt="$line"); done < <(apt-config dump 2>/dev/null |
        grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date|Retries)\b.* ".+";$')
    mmdebstrap --quiet --variant=minbase --include="$packages" "${options[@]}" bookworm "$box_found" \
        ${PHOTOSPOOL_RIG_MIRROR:+"$PHOTOSPOOL_RIG_MIRROR"}
    : > "$box_found/etc/machine-id"
    local unit
    for unit in console-getty getty@ systemd-logind; do
        ln -sf /dev/null "$box_found/etc/systemd/system/$unit.service"
    done
    for unit in apt-daily apt-daily-upgrade dpkg-db-backup e2scrub_all; do
        ln -sf /dev/null "$box_found/etc/systemd/system/$unit.timer"
    done
    : > "$box_found/.whole"
}

box_begin() {
    box_name=photospool-rig-$$
    [ -z "$box_layer" ] || return 0
    mkdir -p "$box_store"
    box_layer=$(mktemp -d "$box_store/layer.XXXXXX")
    mkdir "$box_layer"/{above,work,root}
}

# nspawn on ROOT and the layer, in a mount namespace with nothing but cgroup v2, whatever the host has, and in a cgroup
# of its own to be nspawn's top. Takes the place of the shell it is called in.
box_nspawn() {
    exec unshare --mount bash -c '
        set -e
        name=$1 root=$2 layer=$3; shift 3
        mount --make-rprivate /
        umount -R -l /sys/fs/cgroup
        mount -t cgroup2 cgroup2 /sys/fs/cgroup
        mkdir -p "/sys/fs/cgroup/$name"
        echo 0 > "/sys/fs/cgroup/$name/cgroup.procs"
        # What nspawn keeps there it would leave behind.
        mkdir -p /run/systemd/nspawn
        mount -t tmpfs tmpfs /run/systemd/nspawn
        mount -t overlay overlay -o "lowerdir=$root,upperdir=$layer/above,workdir=$layer/work" "$layer/root"
        exec systemd-nspawn --quiet --directory="$layer/root" --machine="$name" --register=no --keep-unit "$@"
    ' box "$box_name" "$1" "$box_layer" "${box_calls[@]}" "${@:2}" </dev/null
}

box_boot() {
    box_begin
    box_nspawn "$1" --boot --console=read-only "${@:2}" >"$box_layer/console" 2>&1 &
    box_process=$!
    local end=$((SECONDS + 60))
    while [ $SECONDS -lt $end ]; do
        # The background shell became nspawn, whose one child is the box's process 1.
        box_init=$(ps -o pid= --ppid "$box_process" | tr -d ' ' | head -1)
        if [ -n "$box_init" ] && [ -S "/proc/$box_init/root/run/systemd/private" ]; then
            box systemctl is-system-running --wait >/dev/null || true
            return 0
        fi
        kill -0 "$box_process" 2>/dev/null || break
        sleep 0.05
    done
    echo "The box did not boot:" >&2
    cat "$box_layer/console" >&2
    return 1
}

box() {
    nsenter --target "$box_init" --all --root --wd -- \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb "$@"
}

box_shell() {
    box_begin
    (box_nspawn "$1" --as-pid2 --console=pipe --resolv-conf=copy-host "${@:2}")
}

box_down() {
    [ -n "$box_layer" ] || return 0
    # Its process 1 takes everything in the box with it; killing nspawn first would leave the box running.
    [ -z "$box_init" ] || kill -KILL "$box_init" 2>/dev/null || true
    [ -z "$box_process" ] || wait "$box_process" 2>/dev/null || true
    rm -rf --one-file-system "$box_layer"
    box_process='' box_init='' box_layer=''
    local groups; groups=$(mktemp -d)
    mount -t cgroup2 cgroup2 "$groups"
    find "$groups/$box_name" -depth -type d -exec rmdir {} + 2>/dev/null || true
    umount "$groups"
    rmdir "$groups"
}
