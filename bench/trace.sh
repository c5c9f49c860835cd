#!/usr/bin/env bash
# What a trace of system calls shows, and what it costs: lost events at thousands of statements
# a second, CPU of the traced service in pairs with and without, the time to attach, memory,
# the size of the binary and of `kasoku version`. Needs root, MariaDB and a kernel with eBPF.
#
# Exit status: 0 all goals met, 1 not all, 3 when nothing could be measured.
#
# Environment:
#   PAIRS    default 36, at as many requests as there can be, and at a fixed rate: the median of these counts.
#            Many short ones: what else the host does goes on for seconds
#   SECONDS_ of each half of a pair, default 1
#   RUN      of a run with the default window, and of one without a trace, default 1m; 0: none
#   BASE     a revision without the trace, whose binary is compared; default: no comparison
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

go=${GO:-go}
dir=$(mktemp -d) || exit 3
trap 'rm -rf "$dir"' EXIT
export CGO_ENABLED=0

"$go" build -trimpath -o "$dir/bench" ./bench/trace || exit 3
"$go" build -trimpath -ldflags='-s -w' -o "$dir/goserver" ./trace/window/testdata/goserver || exit 3
"$go" build -trimpath -ldflags='-s -w' -o "$dir/kasoku" ./cmd/kasoku || exit 3
if [ -n "${BASE:-}" ]; then
  git worktree add -q --detach "$dir/base" "$BASE" || exit 3
  (cd "$dir/base" && "$go" build -trimpath -ldflags='-s -w' -o "$dir/kasoku-base" ./cmd/kasoku)
  git worktree remove --force "$dir/base"
fi
"$dir/bench" -server "$dir/goserver" -kasoku "$dir/kasoku" -base "$dir/kasoku-base" -pairs "${PAIRS:-36}" -half "${SECONDS_:-1}s" \
  -run "${RUN:-1m}"
