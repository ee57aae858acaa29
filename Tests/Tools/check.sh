#!/usr/bin/env bash
# House rules that a machine can see. Prints each fault; exits 1 when there is one.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
export SWIFT=${SWIFT:-$(command -v swift || echo /opt/swift/usr/bin/swift)}

faults=0
fault() {
    echo "check: $1" >&2
    [ -z "${2:-}" ] || printf '%s\n' "$2" | head -20 >&2
    faults=$((faults + 1))
}
none() { [ -z "$2" ] || fault "$1" "$2"; } # what, matches

none "layout (run: swift format format -i -r Sources Tests Package.swift)" \
    "$("$SWIFT" format lint --strict --parallel -r Sources Tests Benchmarks Package.swift 2>&1 | grep -E 'error|warning')"
none "full Foundation (FoundationEssentials only: ICU costs 45 MB)" \
    "$(git grep -nE '^ *(@preconcurrency |private |internal |package |public )*import Foundation *$' -- Sources)"
none "String(format:) draws in ICU" "$(git grep -nE 'String\(format:' -- Sources)"
none "a trap on something that a file, a user or the system can cause" \
    "$(git grep -nE 'try!|fatalError\(|\bas! ' -- 'Sources/*.swift')"
none "a silent failure without its reason beside it or above it" \
    "$(git ls-files -z 'Sources/*.swift' | xargs -0 awk '
        FNR == 1 { above = "" }
        /(^|[^[:alnum:]])try\?|catch *(_ *)?\{ *\}/ && !/\/\// && above !~ /\/\// { print FILENAME ":" FNR ": " $0 }
        { above = $0 }')"
none "public instead of package" "$(git grep -nE '^ *public ' -- 'Sources/*.swift')"
none "unfinished work" \
    "$(git grep -nE '\b(TODO|FIXME|XXX)\b|not implemented|unimplemented' -- \
        Sources Tests Makefile README.md docs ':!Tests/Tools/check.sh')"

# The order of targets in Package.swift is the architecture: a target may only depend on what stands above it.
python3 - <<'PY' || faults=$((faults + 1))
import json, os, subprocess, sys

dump = subprocess.run([os.environ["SWIFT"], "package", "dump-package"], capture_output=True, text=True, check=True)
needs, wrong = {}, []
for target in json.loads(dump.stdout)["targets"]:
    needs[target["name"]] = {target["name"]}
    for dependency in target["dependencies"]:
        name = (dependency.get("byName") or dependency.get("target"))[0]
        if name not in needs:
            wrong.append(f"{target['name']} depends on {name}, which stands below it")
        needs[target["name"]] |= needs.get(name, set())
# What parses a photo runs in the sandbox and nowhere else.
parsers = {"Codecs", "Metadata", "CTurboJPEG", "CHEIF", "CAVIF", "CSPNG", "CRaw", "CLCMS", "CZlib", "CBrotli", "Movies", "CFFmpeg"}
for program in ("photospoold", "photospool"):
    wrong += [f"{program} links {name}, which parses photos" for name in sorted(needs[program] & parsers)]
# FFmpeg brings a hundred libraries along: into its own decoder only.
wrong += [f"photospool-decoder links {name}" for name in sorted(needs["photospool-decoder"] & {"Movies", "CFFmpeg"})]
for line in wrong:
    print("check:", line, file=sys.stderr)
sys.exit(1 if wrong else 0)
PY

for unit in systemd/*.service; do
    command -v systemd-analyze >/dev/null || { echo "check: no systemd-analyze, $unit not rated"; continue; }
    systemd-analyze security --offline=yes --threshold=10 "$unit" >/dev/null 2>&1 ||
        fault "$unit is exposed more than 1.0" "$(systemd-analyze security --offline=yes "$unit" 2>&1 | tail -1)"
done

[ $faults = 0 ] && echo "check: all clean"
exit $((faults > 0))
