#!/usr/bin/env bash
# A server stands still for one second: what kasoku says of it, and what wrk says,
# and wrk2 where it is on PATH or in KASOKU_PEERS. Takes half a minute.
#
# Exit status: 0 shown, 3 when it could not be.
#
# Environment:
#   KASOKU_PEERS  directories with peers, searched before PATH
#   KASOKU        kasoku to show; default: built from ./cmd/kasoku
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) || exit 3

go=${GO:-go}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
trap : INT TERM # what is running ends by itself

if [ -n "${KASOKU:-}" ]; then
  cp "$KASOKU" "$dir/kasoku" || exit 3
else
  "$go" -C "$root" build -trimpath -ldflags '-s -w' -o "$dir/kasoku" ./cmd/kasoku || exit 3
fi
"$go" -C "$root" build -trimpath -o "$dir/load" ./bench/load || exit 3
"$dir/load" stall -kasoku "$dir/kasoku" -dir "$dir"
