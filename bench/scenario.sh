#!/usr/bin/env bash
# What a request costs the client of a scenario, beside net/http's client: CPU of
# the client's process per request, at a real nginx, 16 users in a closed loop, the
# same number of requests each. In each round both take their turn; ratios are
# those of one round, figures the median of all. It takes about a minute; the
# machine should do nothing else meanwhile.
#
#   bench/scenario.sh [-rounds N] [-n REQUESTS] [-users N]
#
# Exit status: 0 every ratio is at most 0.50, 1 not all, 3 nothing was measured.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd) || exit 3

go=${GO:-go}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
if ! PATH=$PATH:/usr/sbin command -v nginx >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "installing nginx-light"
  apt-get install -y -qq --no-install-recommends nginx-light >/dev/null 2>&1
fi
"$go" -C "$root" build -trimpath -o "$dir/scenario" ./bench/scenario || exit 3
"$dir/scenario" compare "$@"
