#!/usr/bin/env bash
# Installs the Debian packages that the named groups need, and only those that are missing.
#   deps.sh build|test|bench|deb|rigs ...
set -euo pipefail

# What Swift's toolchain itself needs to compile and link, then the libraries of README's table.
build=(binutils gcc libc6-dev libstdc++-12-dev pkg-config git ca-certificates libxml2 libncurses6 libz3-4 tzdata
    libsystemd-dev libsqlite3-dev libmicrohttpd-dev libcurl4-openssl-dev libssl-dev libtomlplusplus-dev
    libturbojpeg0-dev libheif-dev libavif-dev libspng-dev libwebp-dev libtiff-dev libgif-dev libjxl-dev libraw-dev
    zlib1g-dev libbrotli-dev libexpat1-dev liblcms2-dev libseccomp-dev libavformat-dev libavcodec-dev libavutil-dev libswscale-dev)
# Independent tools that the tests hold the programs against, and rigs.
test=(ffmpeg sqlite3 curl jq procps python3 file libimage-exiftool-perl libjpeg-turbo-progs libheif-examples
    imagemagick webp libavif-bin libraw-bin libtiff-tools libjxl-tools liblcms2-utils libgs-common strace systemd
    python3-fusepy fuse3 mount e2fsprogs xfsprogs btrfs-progs dmsetup)
# A kernel as a program; Debian has it for these only.
case $(dpkg --print-architecture) in amd64 | i386) test+=(user-mode-linux) ;; esac
bench=(libvips-tools time python3 imagemagick libheif-examples inotify-tools procps util-linux findutils)
deb=(dpkg-dev scdoc)
rigs=(mmdebstrap systemd-container procps e2fsprogs)

wanted=()
for group in "$@"; do
    case $group in
        build) wanted+=("${build[@]}") ;;
        test) wanted+=("${test[@]}") ;;
        bench) wanted+=("${bench[@]}") ;;
        rigs) wanted+=("${rigs[@]}") ;;
        deb) wanted+=("${deb[@]}") ;;
        *) echo "deps.sh: unknown group $group" >&2; exit 64 ;;
    esac
done

missing=()
for package in "${wanted[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "Packages are missing (${missing[*]}) and there is no sudo: run as root once." >&2; exit 1; }
    as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
