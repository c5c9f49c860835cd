#!/usr/bin/env bash
# The game goldrush by HTTP and in simulated time: each way to play in the world of one
# seed, and how far the two are apart. Then how many requests a second the server answers on
# one core where nothing is modelled. Takes three minutes; needs a host that does nothing else.
#
# Exit status: 0 within 5 % and 20,000 requests a second, 1 not so, 3 could not run.
#
# Environment:
#   LASTS   of a game; default 30s
#   SEED    of the world; default 42
#   KASOKU  kasoku to run; default: built from ./cmd/kasoku
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) || exit 3

go=${GO:-go} lasts=${LASTS:-30s} seed=${SEED:-42}
dir=$(mktemp -d) || exit 3
export XDG_STATE_HOME=$dir/state
trap '"$dir/kasoku" lab down goldrush >/dev/null; rm -rf "$dir"' EXIT

if [ -n "${KASOKU:-}" ]; then
  cp "$KASOKU" "$dir/kasoku" || exit 3
else
  "$go" -C "$root" build -trimpath -ldflags '-s -w' -o "$dir/kasoku" ./cmd/kasoku || exit 3
fi

figure() { sed -n 's/.*"'"$1"'":\([0-9.]*\).*/\1/p'; }

bad=0
printf '%-10s  %8s  %9s  %6s  %8s\n' variant HTTP simulated apart refused
for variant in reference pipelined free author tuned; do
  "$dir/kasoku" lab up goldrush -seed "$seed" >/dev/null || exit 3
  real=$("$dir/kasoku" lab client goldrush -variant "$variant" -duration "$lasts" 2>/dev/null) || exit 3
  "$dir/kasoku" lab down goldrush >/dev/null || exit 3
  simulated=$("$dir/kasoku" lab client goldrush -variant "$variant" -duration "$lasts" --simulated -seed "$seed") || exit 3
  awk -v v="$variant" -v r="$(figure coins_per_s <<<"$real")" -v s="$(figure coins_per_s <<<"$simulated")" \
    -v n="$(figure refused <<<"$real")" 'BEGIN {
      apart = r / s - 1
      printf "%-10s  %8.1f  %9.1f  %5.1f%%  %8d\n", v, r, s, 100 * apart, n
      exit apart > 0.05 || apart < -0.05
    }' || bad=1
done

rate=$("$go" -C "$root" test -run '^$' -bench Server/connection -cpu 1 ./labs/goldrush/server |
  awk '/requests\/s/ { for (i = 1; i < NF; i++) if ($(i + 1) == "requests/s") print int($i) }') || exit 3
printf '\nserver: %d requests a second on one core, with those who ask\n' "${rate:-0}"
[ "${rate:-0}" -ge 20000 ] || bad=1
exit $bad
