#!/usr/bin/env bash
# How large six hours of a recording are, and how long `kasoku show` takes with them:
# host, processes and a busy MariaDB, recorded for a minute and repeated, each time with
# slightly other values, for six hours of a simulated clock.
#
# Exit status: 0 below the limits, 1 above, 3 when nothing could be measured.
#
# Environment:
#   SIZE_LIMIT  MB of 1,000,000 bytes, default 60
#   SHOW_LIMIT  seconds, the median of five, default 1.0
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

size_limit=${SIZE_LIMIT:-60}
show_limit=${SHOW_LIMIT:-1.0}
go=${GO:-go}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT

"$go" build -trimpath -o "$dir/kasoku" ./cmd/kasoku || exit 3
KASOKU_LONG=1 KASOKU_KEEP="$dir/six.kasoku" "$go" test ./observe -run '^TestLongRecording$' -count=1 >"$dir/log" ||
  { cat "$dir/log"; exit 3; }
size=$(stat -c %s "$dir/six.kasoku") || exit 3

times=()
for _ in 1 2 3 4 5; do
  began=$(date +%s%N)
  "$dir/kasoku" show "$dir/six.kasoku" >/dev/null || exit 3
  times+=($(($(date +%s%N) - began)))
done
median=$(printf '%s\n' "${times[@]}" | sort -n | sed -n 3p)

awk -v size="$size" -v median="$median" -v size_limit="$size_limit" -v show_limit="$show_limit" 'BEGIN {
  printf "six hours           %6.1f MB    limit %s MB\n", size / 1e6, size_limit
  printf "kasoku show         %6.2f s     limit %s s\n", median / 1e9, show_limit
  exit (size / 1e6 > size_limit || median / 1e9 > show_limit) ? 1 : 0
}'
