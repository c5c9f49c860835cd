#!/usr/bin/env bash
# How right the join of statements to endpoints is, and what it costs, on recordings
# whose truth is known (bench/jointruth describes their form): precision and recall of
# the pairs, error of the calls for each request, pairs called high that are right,
# CPU seconds for 100,000 statements; with µs times and with those of a 5 ms tail.
#
#   bench/join.sh [-halves] [-wrong] [DIR]
#
# DIR is a recording or a folder of them; default: those of logs/join/testdata.
# In folders whose name ends in -probe, the statements in each request are counted.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
flags=()
while [ $# -gt 0 ] && [ "${1#-}" != "$1" ]; do
  flags+=("$1")
  shift
done
dir=$(realpath "${1:-$here/logs/join/testdata}")
cd "$here"
exec "${GO:-go}" run ./bench/join "${flags[@]}" "$dir"
