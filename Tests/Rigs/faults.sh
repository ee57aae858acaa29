#!/usr/bin/env bash
# FaultTests in full: every combination of call, error, place and moment that it knows, and every refusal of a drop folder.
# `make test` takes a few, others each time; errors.py has the matrix that it takes always.
set -euo pipefail
cd "$(dirname "$0")/../.."
swift=$(command -v swift || echo /opt/swift/usr/bin/swift)
"$swift" build --build-tests
PHOTOSPOOL_SOAK=1 "$swift" test --skip-build --filter 'FaultTests'
