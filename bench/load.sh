#!/usr/bin/env bash
# What a request costs kasoku's load engine, how evenly and how surely it sends, and
# how much memory that takes: side by side with wrk and with h2load, ab, hey, k6,
# oha, vegeta, wrk2 and bombardier where they are on PATH or in KASOKU_PEERS. The
# server has one core, the generators another; in each round all take their turn;
# ratios are those of one round, figures the median of all. It takes about 20
# minutes, with --quick 3; the machine should do nothing else meanwhile.
#
#   bench/load.sh [--quick] [--rounds N] [-o FILE] [ROW…]     --help lists the rows
#
# Ctrl-C prints what was measured so far. wrk, ab and h2load are installed where apt
# can.
#
# Exit status: 0 every must is met, 1 not all, 3 when not all was measured.
#
# Environment:
#   KASOKU_PEERS  directories with peers, searched before PATH
#   KASOKU        kasoku to measure; default: built from ./cmd/kasoku
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) || exit 3

go=${GO:-go}
case " $* " in *' -h '* | *' -help '* | *' --help '*) exec "$go" -C "$root" run ./bench/load compare -h ;; esac
dir=$(mktemp -d) || exit 3
memory=$dir # for results: a disk would be what is measured
if [ -w /dev/shm ] && [ "$(df --output=avail -k /dev/shm | tail -1)" -gt 1500000 ]; then
  memory=$(mktemp -d -p /dev/shm) || exit 3
fi
trap 'rm -rf "$dir" "$memory"' EXIT
trap : INT TERM # what is running ends by itself and prints what it has

missing=()
for pair in wrk:wrk ab:apache2-utils h2load:nghttp2-client nginx:nginx-light taskset:util-linux; do
  PATH=$PATH:/usr/sbin command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
done
if [ ${#missing[@]} -gt 0 ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "installing ${missing[*]}"
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1
fi
if [ -n "${KASOKU:-}" ]; then
  cp "$KASOKU" "$dir/kasoku" || exit 3
else
  "$go" -C "$root" build -trimpath -ldflags '-s -w' -o "$dir/kasoku" ./cmd/kasoku || exit 3
fi
"$go" -C "$root" build -trimpath -o "$dir/load" ./bench/load || exit 3
"$dir/load" compare -kasoku "$dir/kasoku" -dir "$memory" "$@"
