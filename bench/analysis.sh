#!/usr/bin/env bash
# How fast kasoku reads access logs and slow logs, side by side with the tools that
# people use: goaccess, kataribe, alp, pt-query-digest, mysqldumpslow, ripgrep.
# Missing peers are installed where apt can; kataribe and alp are built from pinned
# sources. What is missing after that is named, and its goal counts as not met.
#
# Exit status: 0 all goals met, 1 not all, 3 when nothing could be measured.
#
# Environment:
#   LOGS       directory that keeps the logs between runs, 1.5 GB; default: a temporary one
#   RUNS       default 5; the median counts
#   PEER_RUNS  default 5; a run of all peers takes about 100 s
#   REQUESTS   in each access log, default 1250000
#   ONLY       measure only works whose name holds this text
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

go=${GO:-go}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
logs=${LOGS:-$dir}
mkdir -p "$logs" || exit 3

missing=()
for pair in goaccess:goaccess rg:ripgrep pt-query-digest:percona-toolkit mysqldumpslow:mariadb-client taskset:util-linux; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
done
if [ ${#missing[@]} -gt 0 ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "installing ${missing[*]}"
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1
fi
(cd tools/peers && "$go" build -o "$dir/" github.com/matsuu/kataribe github.com/tkuchiki/alp/cmd/alp)
"$go" build -trimpath -o "$dir/kasoku" ./cmd/kasoku || exit 3
"$go" build -trimpath -o "$dir/analysis" ./bench/analysis || exit 3

"$dir/analysis" -requests "${REQUESTS:-1250000}" make "$logs" || exit 3
PATH=$dir:$PATH "$dir/analysis" -runs "${RUNS:-5}" -peer-runs "${PEER_RUNS:-5}" -kasoku "$dir/kasoku" -only "${ONLY:-}" compare "$logs"
