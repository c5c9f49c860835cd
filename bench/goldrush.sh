#!/usr/bin/env bash
# The game goldrush by HTTP and in simulated time:
#
#   ways    each way to play in the worlds of several seeds, by HTTP and simulated, how far the two
#           are apart in the mean, and in the single worlds; 3 minutes a variant
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
#   LASTS     of a game; default 30s
#   SEEDS     of the worlds; default "11 15 17 20 42", whose treasures are worth the same
#   VARIANTS  of ways; default "reference pipelined free author tuned"
#   KASOKU    kasoku to run; default: built from ./cmd/kasoku
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) || exit 3

go=${GO:-go} lasts=${LASTS:-30s} seeds=${SEEDS:-11 15 17 20 42}
variants=${VARIANTS:-reference pipelined free author tuned}
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
  local bad=0 variant s real simulated rows
  printf '%-10s  %8s  %9s  %6s  %18s  %10s\n' 'ways' HTTP simulated apart 'worlds apart' '403, 429'
  for variant in $variants; do
    rows=
    for s in $seeds; do
      real=$(by_http "$variant" "$s") || exit 3
      simulated=$("$dir/kasoku" lab client goldrush -variant "$variant" -duration "$lasts" --simulated -seed "$s") || exit 3
      rows+="$(figure coins_per_s <<<"$real") $(figure coins_per_s <<<"$simulated") $(refusals <<<"$real")"$'\n'
    done
    awk -v v="$variant" 'NF { n++; real += $1; simulated += $2; bad += $3; x = 100 * ($1 / $2 - 1)
        least = n == 1 || x < least ? x : least; most = n == 1 || x > most ? x : most }
      END {
        apart = 100 * (real / simulated - 1)
        printf "%-10s  %8.1f  %9.1f  %5.1f%%  %8s to %6s  %10d\n", v, real / n, simulated / n, apart, sprintf("%.1f%%", least), sprintf("%.1f%%", most), bad
        exit apart > 5 || apart < -5
      }' <<<"$rows" || bad=1
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
