#!/usr/bin/env bash
# The package in a bare Debian 12 under a real systemd: install, start, import, reload, die, stop, remove.
#   systemd.sh [PACKAGE.deb]     without one, what `make deb` made
# One line for each scenario, then `N passed, N failed`. Root; about a minute once the root is there.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
. Tests/Rigs/box.sh
box_need_root "the package under a real systemd" "$@"

version=$(sed -n 's/.*static let version = "\(.*\)"/\1/p' Sources/PhotoModel/Release.swift)
package=$(realpath "${1:-build/photospool_$version-1_$(dpkg --print-architecture).deb}" 2>/dev/null)
[ -f "$package" ] || { echo "systemd.sh: no package; run: make deb" >&2; exit 1; }
samples=$PWD/Tests/Demo/samples

passed=0 failed=0
# scenario SENTENCE FUNCTION: the function runs in a shell of its own that ends at the first command that fails.
scenario() {
    local output code start=$SECONDS
    # Not as the condition of an `if`, where bash would go on after a failure.
    output=$(set -Eeuo pipefail; trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR; "$2" 2>&1)
    code=$?
    if [ $code = 0 ]; then
        echo "ok     $1 ($((SECONDS - start)) s)"
        passed=$((passed + 1))
    else
        echo "FAULT  $1"
        printf '%s\n' "$output" | tail -25 | sed 's/^/         /'
        failed=$((failed + 1))
    fi
}
# until_true SECONDS COMMAND...: the other side has no event to wait for.
until_true() {
    local end=$((SECONDS + $1)); shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || { echo "waited in vain for: $*"; return 1; }
        sleep 0.1
    done
}
property() { box systemctl show --value -p "$1" photospool.service; }
# For `!`, which a failing scenario would not notice.
fails() { if "$@"; then echo "should have failed: $*"; return 1; fi; }
nothing() { if grep .; then return 1; fi; }
is() { [ "$1" = "$2" ] || { echo "is '$1', should be '$2'"; return 1; }; }
query() { box photospool "$1" --json | jq -r "$2"; }
imported() { query status '.queue.imported'; }
has_imported() { [ "$(imported)" = "$1" ]; }
has_failed() { [ "$(query status '.queue.failed')" = "$1" ]; }
is_running() { [ "$(query status '.state')" = running ]; }
is_active() { [ "$(property ActiveState)" = active ]; }
restarts() { property NRestarts; }
# As people do it: a user who is in the group, and whose files nobody else may write.
drop() { box runuser -u alice -- sh -c 'umask 027; cp "/samples/$1" "/srv/drop/$2"' sh "$1" "$2"; }
configuration() { box sh -c 'cat > /etc/photospool/conf.d/rig.toml' <<< "$1"; }
# A drop-in of the unit; without an argument it goes again.
setting() {
    local folder=/etc/systemd/system/photospool.service.d
    if [ $# = 1 ]; then box sh -c "mkdir -p $folder; cat > $folder/rig.conf" <<< "$1"; else box rm -r $folder; fi
    box systemctl daemon-reload
}

installs() {
    box dpkg -i "/package/$(basename "$package")"
    box dpkg --verify photospool | nothing
    box ldd /usr/bin/photospoold /usr/bin/photospool /usr/libexec/photospool/photospool-decoder |
        fails grep 'not found'
    is "$(box stat -c '%U:%G %a' /srv/photos)" "photospool:photospool 2750"
    is "$(box stat -c '%U:%G %a' /srv/drop)" "photospool:photospool 2770"
    is "$(property ActiveState)" inactive
}
is_rated() {
    box systemd-analyze verify --man=no /usr/lib/systemd/system/photospool.{service,socket} 2>&1 | nothing
    box systemd-analyze security --no-pager --offline=yes --threshold=10 \
        /usr/lib/systemd/system/photospool.service | tail -1
}
waits_for_its_library() {
    box photospool init /srv/photos
    box systemctl start photospool.service
    is_running
    box systemctl stop photospool.service
    # As when its disk is not mounted.
    box mv /srv/photos/.photospool /srv/marked
    box systemctl start photospool.service
    is "$(property ActiveState)" active
    is "$(query status '[.state, .reasons[].code] | join(" ")')" "degraded E_MARKER"
    box ls -A /srv/photos | nothing
    box mv /srv/marked /srv/photos/.photospool
    until_true 30 is_running
    box systemctl stop photospool.service
}
gets_ready() {
    box systemctl start photospool.service
    is "$(property Type) $(property ActiveState) $(property SubState)" "notify active running"
    [ -n "$(property StatusText)" ]
    is_running
}
imports() {
    local path
    drop IMG_0001.JPG IMG_0001.JPG
    drop IMG_0003.HEIC IMG_0003.HEIC
    until_true 60 has_imported 2
    path=$(query assets '.items[].resources[0] | select(.source_path == "/srv/drop/IMG_0001.JPG") | .path')
    is "$path" 2026/2026-05-17/IMG_0001.JPG
    box cmp "/srv/photos/$path" /samples/IMG_0001.JPG
    is "$(box stat -c '%U:%G %a' "/srv/photos/$path")" "photospool:photospool 640"
    is "$(query assets '[.items[].preview.state] | unique | join(" ")')" ok
    box photospool status | grep -i running
    box test -f /srv/drop/IMG_0001.JPG # kept
}
says_what_failed() {
    drop IMG_0004.JPG IMG_0004.JPG
    until_true 120 has_failed 1 # it has no end: for a minute it may still be arriving
    box journalctl -o json -u photospool.service CODE=E_CORRUPT > "$scratch/journal"
    jq -se 'length > 0 and all(.[]; .JOB_ID != null and .PATH != null and (.PRIORITY | tonumber) <= 4)' "$scratch/journal"
    is_active
}
filters() { box sed -n 's/^Seccomp_filters:\s*//p' "/proc/$1/status"; }
is_locked_in() {
    local daemon decoder
    daemon=$(property MainPID)
    box grep -E '^CapEff:\s+0+$' "/proc/$daemon/status"
    decoder=$(box pgrep -f -o photospool-decoder)
    box grep -E '^NoNewPrivs:\s+1$' "/proc/$decoder/status"
    box grep -E '^Seccomp:\s+2$' "/proc/$decoder/status"
    # One filter more than the daemon has: its own.
    [ "$(filters "$decoder")" -gt "$(filters "$daemon")" ]
    is "$(box stat -c %U "/proc/$daemon")" photospool
}
reloads() {
    local before; before=$(property MainPID)
    configuration $'[import]\nworkerz = 2'
    fails box systemctl reload photospool.service
    box journalctl -o json -u photospool.service CODE=E_CONFIG | grep -q workerz
    is_running
    configuration $'[[drop]]\nname = "second"\npath = "/srv/second"\n[preview]\nmax_size = 640'
    box systemctl reload photospool.service
    is "$(property MainPID) $(property ActiveState)" "$before active"
    is "$(query status '[.drops[].name] | sort | join(" ")')" "drop second"
    drop IMG_0002.JPG IMG_0002.JPG
    until_true 60 has_imported 3
    is "$(query assets \
        '.items[] | select(.resources[0].path | endswith("IMG_0002.JPG")).preview | [.width, .height] | max')" 640
}
restarts_when_killed() {
    local before decoder decoders; before=$(property MainPID)
    box kill -KILL "$before"
    until_true 30 eval '[ "$(property MainPID)" != "'"$before"'" ] && is_active && is_running'
    is "$(imported)" 3
    # The killed one's decoders have gone with it.
    decoders=$(box pgrep -f photospool-decoder || true)
    for decoder in $decoders; do
        is "$(box ps -o ppid= -p "$decoder" | tr -d ' ')" "$(property MainPID)"
    done
}
is_watched() {
    is "$(property WatchdogUSec)" 30s
    setting $'[Service]\nWatchdogSec=2'
    box systemctl restart photospool.service
    sleep 5 # more than two intervals: it has to have pinged
    is "$(restarts)" 0
    is_active
    box kill -STOP "$(property MainPID)"
    until_true 30 eval '[ "$(restarts)" = 1 ] && is_active && is_running'
    box journalctl -u photospool.service | grep -q 'Watchdog timeout'
    setting
    box systemctl restart photospool.service
    is_active
}
stops() {
    local start=$EPOCHREALTIME took
    drop 'Screenshot 2026-05-18 at 12.30.05.PNG' one.png # and it is busy
    box systemctl stop photospool.service
    took=$(jq -n "$EPOCHREALTIME - $start")
    echo "stopped in $took s"
    jq -ne "$took < 5"
    is "$(property ActiveState) $(property Result) $(property ExecMainStatus)" "inactive success 0"
    box journalctl -u photospool.service -n 20 | grep -q 'photospoold has stopped'
    fails box pgrep -f photospool
}
is_activated() {
    box systemctl start photospool.socket
    is "$(property ActiveState)" inactive
    is "$(box stat -c '%U:%G %a' /run/photospool/control.sock)" "photospool:photospool 660"
    until_true 30 is_running # asking it is what starts it
    is "$(property ActiveState)" active
    until_true 60 has_imported 4 # what was dropped while it was stopping
    box systemctl restart photospool.service
    is_running
    box systemctl stop photospool.service
    box test -S /run/photospool/control.sock
    until_true 30 is_running
}
lets_in_whom_it_should() {
    box runuser -u alice -- photospool status
    box runuser -u alice -- photospool rescan
    local code=0
    box runuser -u bob -- photospool status || code=$?
    is $code 77
}
refuses_a_bad_start() {
    box systemctl stop photospool.socket photospool.service
    configuration $'[library]\npaht = 1\n[import]\nworkers = -1'
    fails box systemctl start photospool.service
    is "$(property ExecMainStatus) $(property NRestarts)" "78 0"
    box journalctl -u photospool.service -n 20 > "$scratch/journal"
    grep -q paht "$scratch/journal"
    grep -q workers "$scratch/journal"
    box rm /etc/photospool/conf.d/rig.toml
    box systemctl reset-failed photospool.service
    box systemctl start photospool.service
    is_running
}
upgrades() {
    local before; before=$(property MainPID)
    box sh -c 'echo "# mine" >> /etc/photospool/photospool.toml'
    box dpkg -i "/package/$(basename "$package")"
    until_true 30 is_running
    [ "$(property MainPID)" != "$before" ]
    box grep -q '# mine' /etc/photospool/photospool.toml
    is "$(imported)" 4
}
upkeeps() {
    local assets; assets=$(query assets '.items | length')
    box runuser -u alice -- photospool verify
    box mkdir /srv/photos/older
    box sh -c 'cp /samples/IMG_0002.JPG /srv/photos/older/ && echo other >> /srv/photos/older/IMG_0002.JPG'
    box chown -R photospool:photospool /srv/photos/older
    box photospool adopt
    is "$(query assets '.items | length')" $((assets + 1))
    box photospool backup
    # The state's disk was lost, and a new one is empty.
    box systemctl stop photospool.socket photospool.service
    box sh -c 'rm /var/lib/photospool/*'
    box systemctl start photospool.service
    until_true 30 eval '[ "$(query status "[.reasons[].code] | join(\" \")")" = E_STATE_STALE ]'
    box photospool rebuild
    until_true 30 is_running
    is "$(query assets '.items | length')" $((assets + 1))
    box photospool verify
}
goes() {
    box systemctl enable photospool.socket photospool.service
    box dpkg -r photospool
    fails box pgrep -f photospool
    box dpkg -P photospool
    fails box test -e /etc/photospool
    fails box sh -c 'find /usr /etc -name "*photospool*" | grep .'
    box cmp /srv/photos/2026/2026-05-17/IMG_0001.JPG /samples/IMG_0001.JPG
    box sh -c 'ls /var/lib/photospool | grep .'
}

scratch=$(mktemp -d)
trap 'box_down; rm -rf "$scratch"' EXIT
# What the package says it depends on, the service manager, and nothing else: so a forgotten dependency shows.
mapfile -t depends < <(dpkg-deb -f "$package" Depends | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g')
box_root root systemd systemd-sysv dbus procps "${depends[@]}" || exit 1
box_boot "$root" --bind-ro="$(dirname "$package"):/package" --bind-ro="$samples:/samples" || exit 1

scenario "installs on a bare Debian and starts nothing" installs
box useradd -m -G photospool alice
box useradd -m bob
scenario "has units that verify and are exposed at most 1.0" is_rated
scenario "starts without its library, says so, and goes on when it comes" waits_for_its_library
scenario "gets ready and says what it is doing" gets_ready
scenario "imports what a user of the group drops" imports
scenario "reports a corrupt photo with code, job and path in the journal" says_what_failed
scenario "runs without capabilities, its decoder in a sandbox of its own" is_locked_in
scenario "keeps its configuration when the new one is bad, and takes a good one" reloads
scenario "comes back after SIGKILL with everything it had" restarts_when_killed
scenario "feeds the watchdog, and is ended by it when it stands still" is_watched
scenario "stops clean within five seconds, in the middle of an import" stops
scenario "starts when somebody connects, and leaves the socket when it stops" is_activated
scenario "answers members of its group, and tells others why not" lets_in_whom_it_should
scenario "ends with 78 and is not restarted when the configuration is bad at start" refuses_a_bad_start
scenario "is restarted by an upgrade, which keeps the configuration" upgrades
scenario "verifies, adopts, backs up, and rebuilds a lost state, as hardened as it is" upkeeps
scenario "goes when removed, and leaves photos, catalog and journal when purged" goes

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
