#!/usr/bin/env bash
# Puts what `make build` made where it belongs, or takes it away again.
#   install.sh            into $DESTDIR$PREFIX; a configuration that is there already stays
#   install.sh --remove   everything but configuration, state and photos
set -euo pipefail
cd "$(dirname "$0")/../.."

prefix=${PREFIX:-/usr}
root=${DESTDIR:-}
built=${PHOTOSPOOL_PROGRAMS:-.build/release}
# /etc is not below the prefix: units and programs name /etc/photospool whatever the prefix is.
etc=$root/etc/photospool

bin=$root$prefix/bin
libexec=$root$prefix/libexec/photospool
units=$root$prefix/lib/systemd/system
sysusers=$root$prefix/lib/sysusers.d
tmpfiles=$root$prefix/lib/tmpfiles.d
man=$root$prefix/share/man
doc=$root$prefix/share/doc/photospool
bash_completion=$root$prefix/share/bash-completion/completions/photospool
zsh_completion=$root$prefix/share/zsh/vendor-completions/_photospool
fish_completion=$root$prefix/share/fish/vendor_completions.d/photospool.fish

pages=(docs/man/*.scd) # photospool.1.scd becomes share/man/man1/photospool.1.gz

if [ "${1:-}" = --remove ]; then
    rm -f "$bin"/{photospoold,photospool} "$units"/photospool.{service,socket} \
        "$sysusers/photospool.conf" "$tmpfiles/photospool.conf" \
        "$bash_completion" "$zsh_completion" "$fish_completion"
    rm -rf "$libexec" "$doc"
    for page in "${pages[@]}"; do
        page=$(basename "$page" .scd)
        rm -f "$man/man${page##*.}/$page.gz"
    done
    echo "Removed. Configuration (/etc/photospool), state (/var/lib/photospool) and photos are where they were."
    exit 0
elif [ $# -gt 0 ]; then
    echo "usage: install.sh [--remove]" >&2
    exit 64
fi

for program in photospoold photospool photospool-decoder photospool-decoder-av; do
    [ -x "$built/$program" ] || { echo "install.sh: $built/$program is not there; run: make build" >&2; exit 1; }
done

# install(1) makes new files, so a running daemon keeps the one it has. Stripped, which halves them.
install -d "$bin" "$libexec"
install -s -m 755 "$built/photospoold" "$built/photospool" "$bin/"
install -s -m 755 "$built/photospool-decoder" "$built/photospool-decoder-av" "$libexec/"

install -d "$units" "$sysusers" "$tmpfiles"
for unit in systemd/photospool.service systemd/photospool.socket; do
    sed "s|/usr/bin/photospool|$prefix/bin/photospool|" "$unit" > "$units/$(basename "$unit")"
    chmod 644 "$units/$(basename "$unit")"
done
install -m 644 systemd/sysusers.d/photospool.conf "$sysusers/"
install -m 644 systemd/tmpfiles.d/photospool.conf "$tmpfiles/"

install -d "$etc/conf.d"
[ -e "$etc/photospool.toml" ] || install -m 644 etc/photospool.toml "$etc/photospool.toml"

install -d "$doc"
install -m 644 README.md CHANGELOG.md LICENSE docs/*.md "$doc/"
if command -v scdoc >/dev/null; then
    for page in "${pages[@]}"; do
        name=$(basename "$page" .scd)
        install -d "$man/man${name##*.}"
        scdoc < "$page" | gzip -9n > "$man/man${name##*.}/$name.gz"
        chmod 644 "$man/man${name##*.}/$name.gz"
    done
else
    echo "No man pages: scdoc is not installed."
fi
install -d "$(dirname "$bash_completion")" "$(dirname "$zsh_completion")" "$(dirname "$fish_completion")"
"$built/photospool" completions bash > "$bash_completion"
"$built/photospool" completions zsh > "$zsh_completion"
"$built/photospool" completions fish > "$fish_completion"
chmod 644 "$bash_completion" "$zsh_completion" "$fish_completion"

if [ -z "$root" ]; then
    echo "Installed. Next, as root:"
    echo "  systemd-sysusers && systemd-tmpfiles --create && systemctl daemon-reload"
    echo "  photospool init /srv/photos"
    echo "  systemctl enable --now photospool.socket photospool.service"
fi
