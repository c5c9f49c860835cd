#!/usr/bin/env bash
# serve.sh: what the page of kasoku serve costs: sizes, the time to a page, to the tables of a brush, of a run of
# HOURS with ROUTES routes, and the CPU and memory of a server that no one asks and of one that shows a run that is
# being recorded. Prints one line a figure, beside the limit of its design.
set -euo pipefail
cd "$(dirname "$0")/.."
exec go run ./bench/serve "$@"
