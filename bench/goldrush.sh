#!/usr/bin/env bash
# The game goldrush by HTTP and in simulated time, in parts of less than eight minutes:
#
#   ways    each way to play in the world of one seed, by HTTP and simulated, and how far the two
#           are apart
#   ratio   the reference and the tuned client by HTTP in the worlds of several seeds, each in the
#           same one: how many times as much the tuned one earns, and what was refused it
#   server  how many requests a second the server answers on one core where nothing is modelled
#
#   bench/goldrush.sh [PART…]     without one all of them
#
# It needs a host that does nothing else.
#
# Exit status: 0 within 5 %, 15 times as much in the mean, none of the tuned client's requests
# refused with 403 or 429, 20,000 requests a second; 1 not so, 3 could not run.
#
# Environment:
#   LASTS   of a game; default 30s
#   SEED    of the world of ways; default 42
#   SEEDS   of those of ratio; default "11 15 17 20 42", whose treasures are worth the same
#   KASOKU  kasoku to run; default: built from ./cmd/kasoku
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) || exit 3

go=${GO:-go} lasts=${LASTS:-30s} seed=${SEED:-42} seeds=${SEEDS:-11 15 17 20 42}
dir=$(mktemp -d) || exit 3
export XDG_STATE_HOME=$dir/state
trap '"$dir/kasoku" lab down goldrush >/dev/null 2>&1; rm -rf "$dir"' EXIT

if [ -n "${KASOKU:-}" ]; then
  cp "$KASOKU" "$dir/kasoku" || exit 3
else
  "$go" -C "$root" build -trimpath -ldflags '-s -w' -o "$dir/kasoku" ./cmd/kasoku || exit 3
fi

figure() { sed -n 's/.*"'"$1"'":\([0-9.]*\).*/\1/p'; }

# refusals adds up the answers 403 and 429 of all calls.
refusals() { grep -oE '"(403|429)":[0-9]+' | awk -F: '{ n += $2 } END { print n + 0 }'; }

# by_http plays a variant in the world of a seed.
by_http() {
  "$dir/kasoku" lab up goldrush -seed "$2" >/dev/null || return
  "$dir/kasoku" lab client goldrush -variant "$1" -duration "$lasts" 2>/dev/null || return
  "$dir/kasoku" lab down goldrush >/dev/null
}

ways() {
  local bad=0 variant real simulated
  printf '%-10s  %8s  %9s  %6s  %10s\n' "seed $seed" HTTP simulated apart '403, 429'
  for variant in reference pipelined free author tuned; do
    real=$(by_http "$variant" "$seed") || exit 3
    simulated=$("$dir/kasoku" lab client goldrush -variant "$variant" -duration "$lasts" --simulated -seed "$seed") || exit 3
    awk -v v="$variant" -v r="$(figure coins_per_s <<<"$real")" -v s="$(figure coins_per_s <<<"$simulated")" \
      -v n="$(refusals <<<"$real")" 'BEGIN {
        apart = r / s - 1
        printf "%-10s  %8.1f  %9.1f  %5.1f%%  %10d\n", v, r, s, 100 * apart, n
        exit apart > 0.05 || apart < -0.05
      }' || bad=1
  done
  return $bad
}

ratio() {
  local s slow fast rows=
  printf '%-10s  %9s  %8s  %6s  %10s\n' seed reference tuned times '403, 429'
  for s in $seeds; do
    slow=$(by_http reference "$s") && fast=$(by_http tuned "$s") || exit 3
    rows+="$s $(figure coins_per_s <<<"$slow") $(figure coins_per_s <<<"$fast") $(refusals <<<"$fast")"$'\n'
  done
  awk 'NF { times = $3 / $2; n++; sum += times; least = n == 1 || times < least ? times : least; bad += $4
      printf "%-10s  %9.1f  %8.1f  %6.1f  %10d\n", $1, $2, $3, times, $4 }
    END { printf "n = %d: %.1f times in the mean, %.1f at least\n", n, sum / n, least; exit sum / n < 15 || bad > 0 }' <<<"$rows"
}

server() {
  local rate
  rate=$("$go" -C "$root" test -run '^$' -bench Server/connection -cpu 1 ./labs/goldrush/server |
    awk '/requests\/s/ { for (i = 1; i < NF; i++) if ($(i + 1) == "requests/s") print int($i) }') || exit 3
  printf 'server: %d requests a second on one core, with those who ask\n' "${rate:-0}"
  [ "${rate:-0}" -ge 20000 ]
}

[ $# -gt 0 ] || set -- ways ratio server
bad=0
for part in "$@"; do
  case $part in
  ways | ratio | server) "$part" || bad=1 ;;
  *) echo "unknown part $part: want ways, ratio, server" >&2; exit 3 ;;
  esac
done
exit $bad
