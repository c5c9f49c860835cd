#!/usr/bin/env bash
# How many metrics a second kasoku's load of carbon sends on one core, by lines and by
# pickled lists, and how many for a second of CPU, beside haggar where that is on PATH or
# in KASOKU_PEERS; else beside what was measured of it before, which the output says. A
# sink that only reads has core 0, the generator core 1. The musts are for a second of CPU
# of one core, so that a busy machine can be judged. Under a minute.
#
#   bench/carbon.sh [-rounds N] [-seconds N]
#
# Exit status: 0 every must is met, 1 not all, 3 when it was not measured.
#
# Environment:
#   KASOKU_PEERS  directories with peers, searched before PATH
#   KASOKU        kasoku to measure; default: built from ./cmd/kasoku
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) || exit 3
go=${GO:-go}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
if [ -n "${KASOKU:-}" ]; then
  cp "$KASOKU" "$dir/kasoku" || exit 3
else
  "$go" -C "$root" build -trimpath -ldflags '-s -w' -o "$dir/kasoku" ./cmd/kasoku || exit 3
fi
"$go" -C "$root" build -trimpath -o "$dir/carbon" ./bench/carbon || exit 3
cd "$dir" || exit 3
taskset -c 0 "$dir/carbon" -kasoku "$dir/kasoku" "$@"
