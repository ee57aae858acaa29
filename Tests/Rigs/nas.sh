#!/usr/bin/env bash
# The daemon on an NFS and an SMB share, mounted from servers in the same machine: a kernel of its own, User-Mode Linux,
# for no other may mount them without being asked. Root; two minutes once the root is there.
#   nas.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/Rigs/box.sh
box_need_root "the daemon on NFS and SMB" "$@"
if ! command -v linux.uml >/dev/null; then
    echo "skipped: the daemon on NFS and SMB (apt-get install user-mode-linux)"
    exit 0
fi
programs=$(realpath "${PHOTOSPOOL_PROGRAMS:-.build/release}")
[ -x "$programs/photospoold" ] || { echo "nas.sh: no programs; run: make build" >&2; exit 1; }

# Servers, clients, and the libraries that README's table names.
box_root root kmod nfs-kernel-server nfs-common samba cifs-utils procps iproute2 e2fsprogs python3 \
    libmicrohttpd12 libsqlite3-0 libsystemd0 libssl3 libstdc++6

box_begin
trap 'rm -rf --one-file-system "$box_layer"' EXIT
mkdir -p "$box_layer/above/usr/lib/modules" "$box_layer/above/rig/programs"
cp -a /usr/lib/uml/modules/* "$box_layer/above/usr/lib/modules/"
cp "$programs"/photospool{d,,-decoder} "$box_layer/above/rig/programs/"
cp Tests/Rigs/{daemon,nas}.py "$box_layer/above/rig/"
# What the servers give away lies on a real filesystem: theirs is the host's, and has no numbers of its own for files.
truncate -s 256M "$box_layer/disk"
mkfs.ext4 -q -F "$box_layer/disk"

# Process 1 of the machine. Its last word says how it went, for the kernel takes no exit status with it.
cat > "$box_layer/above/rig/init" <<'INIT'
#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 PHOTOSPOOL_PROGRAMS=/rig/programs
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /dev/shm /run/lock /run/rpcbind /run/samba
ip link set lo up
python3 /rig/nas.py
echo "nas: $?"
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x "$box_layer/above/rig/init"

# The layer goes on top in a mount namespace of its own; setsid, so that nothing on this terminal reaches the kernel.
unshare --mount setsid --wait bash -c '
    set -e
    mount --make-rprivate /
    root=$1 layer=$2
    mount -t overlay overlay -o "lowerdir=$root,upperdir=$layer/above,workdir=$layer/work" "$layer/root"
    exec timeout 900 linux.uml mem=768M ubd0="$layer/disk" rootfstype=hostfs root=/dev/root rootflags="$layer/root" rw \
        con=null con0=null,fd:1 init=/rig/init quiet loglevel=1
' nas "$root" "$box_layer" </dev/null 2>&1 | tee "$box_layer/console" | tr -d '\r'
grep -q '^nas: 0' <(tr -d '\r' < "$box_layer/console")
