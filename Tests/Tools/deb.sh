#!/usr/bin/env bash
# Makes a Debian package of what `make build` made: build/photospool_VERSION_ARCH.deb. Needs no root.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$(sed -n 's/.*static let version = "\(.*\)"/\1/p' Sources/PhotoModel/Release.swift)
architecture=$(dpkg --print-architecture)
out=$PWD/build
package=$out/photospool_$version-1_$architecture.deb
# The same commit gives the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

mkdir -p "$out"
work=$(mktemp -d "${TMPDIR:-/tmp}/photospool-deb.XXXXXX")
trap 'rm -rf "$work"' EXIT
tree=$work/debian/photospool
umask 022
DESTDIR=$tree PREFIX=/usr Tests/Tools/install.sh
mkdir "$tree/DEBIAN"
mv "$tree/usr/share/doc/photospool/LICENSE" "$tree/usr/share/doc/photospool/copyright"

# Swift's own library is inside the programs; the C libraries are Debian's, named by what the programs really call.
printf 'Source: photospool\n\nPackage: photospool\nArchitecture: any\n' > "$work/debian/control"
needs() { # programs, below the tree
    (cd "$work" && dpkg-shlibdeps -O -Sdebian/photospool "${@/#/debian/photospool/}" | sed -n 's/^shlibs:Depends=//p')
}
libraries=$(needs usr/bin/photospoold usr/bin/photospool usr/libexec/photospool/photospool-decoder)
# Some 120 more libraries for the posters of videos: wanted, not needed. Without them there are none, and all else works.
movies=$(needs usr/libexec/photospool/photospool-decoder-av | tr ',' '\n' | sed 's/^ *//' |
    grep -E '^lib(avformat|avcodec|avutil|swscale)' | paste -sd, | sed 's/,/, /g')
[ -n "$libraries" ] && [ -n "$movies" ] || { echo "deb.sh: dpkg-shlibdeps named no libraries" >&2; exit 1; }

cat > "$tree/DEBIAN/control" <<CONTROL
Package: photospool
Version: $version-1
Architecture: $architecture
Maintainer: photospool developers <photospool@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f1)
Depends: $libraries, systemd | systemd-standalone-sysusers, systemd | systemd-standalone-tmpfiles
Recommends: $movies
Section: graphics
Priority: optional
Description: photo ingestion daemon
 Watches drop folders and copies each photo that arrives into a library: checked
 against the medium, dated, named, with a small upright preview and a record in
 a catalog. Photos are parsed by a sandboxed process. No photo is lost,
 overwritten or half-visible, whatever dies, fills up or lies.
 .
 Contains the daemon (photospoold), its client (photospool) and systemd units.
CONTROL
echo /etc/photospool/photospool.toml > "$tree/DEBIAN/conffiles"

# systemctl works only where systemd runs; in a chroot and in most containers it does not.
cat > "$tree/DEBIAN/postinst" <<'SCRIPT'
#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
systemd-sysusers photospool.conf
systemd-tmpfiles --create photospool.conf
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    # Only when it was running: a first start wants a library, which `photospool init` makes.
    [ -z "$2" ] || systemctl try-restart photospool.service
fi
if [ -z "$2" ]; then
    echo "photospool: next, make a library and start: photospool init /srv/photos &&"
    echo "photospool: systemctl enable --now photospool.socket photospool.service"
fi
SCRIPT
cat > "$tree/DEBIAN/prerm" <<'SCRIPT'
#!/bin/sh
set -e
[ "$1" = remove ] || exit 0
if [ -d /run/systemd/system ]; then
    systemctl --quiet disable --now photospool.socket photospool.service
fi
SCRIPT
cat > "$tree/DEBIAN/postrm" <<'SCRIPT'
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
[ "$1" = purge ] || exit 0
rmdir --ignore-fail-on-non-empty /etc/photospool/conf.d /etc/photospool 2>/dev/null || true
# The catalog and the record of every deletion are worth more than a clean disk, so they stay, and so does the user
# that the photos belong to.
echo "photospool: photos stay, and so do their catalog and journal in /var/lib/photospool."
SCRIPT
chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/prerm" "$tree/DEBIAN/postrm"
(cd "$tree" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) > "$tree/DEBIAN/md5sums"

dpkg-deb --root-owner-group --build "$tree" "$package" >/dev/null
echo "$package"
