#!/usr/bin/env bash
# The tests of deaths and failing calls, in full: SIGKILL before each call that changes the disk (three times, for keep,
# delete and move), 400 deaths during the recovery from another, and every combination of call, error, place and moment
# that FaultTests knows. About half an hour on two cores. `make test` takes a few of each, others each time.
set -euo pipefail
cd "$(dirname "$0")/../.."
swift=$(command -v swift || echo /opt/swift/usr/bin/swift)
"$swift" build --build-tests
PHOTOSPOOL_SOAK=1 "$swift" test --skip-build --filter 'KillTests|FaultTests'
