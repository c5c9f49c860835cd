#!/usr/bin/env bash
# What recording costs: CPU and memory of a recorder that samples host, 300
# processes and, when there is one, MariaDB, every second into a run file.
# Measured from outside, by /proc/PID/stat, beginning 2 s after the start, so that
# only recording counts; beside it what pidstat and sadc cost for as long.
#
# Exit status: 0 below the limits, 1 above, 3 when nothing could be measured.
#
# Environment:
#   SECONDS_LONG  how long to measure, default 30
#   PROCESSES     idle processes to start, default 300
#   CPU_LIMIT     percent of one core, default 1.0 (the aim is 0.5)
#   RSS_LIMIT     MB of 1,000,000 bytes, default 40 (the aim is 30)
#   KASOKU        kasoku to measure; default: built from ./cmd/kasoku, and where
#                 that does not build, bench/recorder, which only records
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

long=${SECONDS_LONG:-30}
most=$((long + 15)) # what is measured ends by itself then, if nobody ends it
processes=${PROCESSES:-300}
cpu_limit=${CPU_LIMIT:-1.0}
rss_limit=${RSS_LIMIT:-40}
go=${GO:-go}
dir=$(mktemp -d) || exit 3
pids=()     # idle processes
database='' # of MariaDB
running=''  # of what is being measured

clean() {
	[ -n "$running" ] && kill "$running" 2>/dev/null
	[ -n "$database" ] && kill "$database" 2>/dev/null
	[ ${#pids[@]} -gt 0 ] && kill "${pids[@]}" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$dir"
}
trap clean EXIT
trap 'exit 130' INT TERM

# ticks PID: user and system time so far, in 1/100 s. The name may hold spaces,
# so fields are counted from behind it.
ticks() {
	sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'
}

# memory PID FIELD: VmRSS or VmHWM (the peak) in bytes.
memory() {
	awk -v f="$2:" '$1 == f { print $2 * 1024 }' "/proc/$1/status" 2>/dev/null
}

# measure NAME COMMAND…: runs it and sets cpu (percent of one core) and rss
# (peak, bytes); fails when it ends early.
measure() {
	local name=$1 t0 t1 c0 c1
	shift
	"$@" >"$dir/$name.out" 2>"$dir/$name.err" &
	running=$!
	sleep 2
	t0=$EPOCHREALTIME c0=$(ticks "$running")
	sleep "$long"
	t1=$EPOCHREALTIME c1=$(ticks "$running")
	rss=$(memory "$running" VmHWM)
	if [ -z "$c0" ] || [ -z "$c1" ] || [ -z "$rss" ]; then
		echo "$name ended early:" >&2
		tail -5 "$dir/$name.err" >&2
		running=''
		return 1
	fi
	cpu=$(awk -v a="$c0" -v b="$c1" -v s="$t0" -v e="$t1" 'BEGIN { printf "%.2f", (b - a) / (e - s) }')
	return 0
}

# finish [SIGNAL]: ends what was measured, or waits for its end.
finish() {
	[ -n "${1:-}" ] && kill "-$1" "$running" 2>/dev/null
	wait "$running" 2>/dev/null
	running=''
}

mb() { awk -v b="$1" 'BEGIN { printf "%.1f", b / 1e6 }'; }

start_mariadb() {
	local user=() install
	install=$(command -v mariadb-install-db || command -v mysql_install_db) || return 1
	[ "$(id -u)" = 0 ] && user=(--user=root)
	"$install" --no-defaults --datadir="$dir/data" --auth-root-authentication-method=normal "${user[@]}" >"$dir/install.out" 2>&1 || return 1
	mariadbd --no-defaults --datadir="$dir/data" --socket="$dir/sock" --bind-address=127.0.0.1 --port=0 --skip-networking \
		--pid-file="$dir/pid" "${user[@]}" >"$dir/mariadbd.out" 2>&1 &
	database=$!
	for _ in $(seq 100); do
		[ -S "$dir/sock" ] && return 0
		kill -0 "$database" 2>/dev/null || return 1
		sleep 0.2
	done
	return 1
}

dsn=()
if ! command -v mariadbd >/dev/null; then
	echo "missing: mariadbd; recording without a database (apt-get install mariadb-server)"
elif start_mariadb; then
	dsn=(--mysql "root@unix($dir/sock)/")
else
	echo "mariadbd does not start:" >&2
	tail -5 "$dir/install.out" "$dir/mariadbd.out" >&2
	exit 3
fi
for _ in $(seq "$processes"); do
	sleep 100000 &
	pids+=($!)
done

$go build -o "$dir/recorder" ./bench/recorder || exit 3
recorder=("$dir/recorder" -for "${most}s" -o "$dir/run.kasoku" "${dsn[@]}")
what='bench/recorder'
if [ -n "${KASOKU:-}" ]; then
	cp "$KASOKU" "$dir/kasoku" || exit 3
else
	$go build -o "$dir/kasoku" ./cmd/kasoku 2>/dev/null
fi
if [ -x "$dir/kasoku" ] && "$dir/kasoku" record --help >/dev/null 2>&1; then
	recorder=("$dir/kasoku" record --for "${most}s" -o "$dir/run.kasoku" "${dsn[@]}")
	what='kasoku record'
fi

"$dir/recorder" -idle -for 1s &
running=$!
sleep 0.7
baseline=$(memory "$running" VmRSS)
finish

count=$(find /proc -maxdepth 1 -name '[0-9]*' | wc -l)
echo "$what, 1 s, ${long} s, $count processes${dsn:+, MariaDB}"
measure recorder "${recorder[@]}" || exit 3
finish INT
own_cpu=$cpu own_rss=$rss
printf '%-10s %5s %% of one core  %5s MB peak, %s MB above an idle Go program\n' \
	kasoku "$own_cpu" "$(mb "$own_rss")" "$(mb $((own_rss - baseline)))"
[ "$what" = bench/recorder ] && cat "$dir/recorder.out"
[ -f "$dir/run.kasoku" ] && echo "  run file: $(mb "$(stat -c %s "$dir/run.kasoku")") MB"

if command -v pidstat >/dev/null; then
	measure pidstat pidstat -urdwvh -p ALL 1 "$most" && printf '%-10s %5s %% of one core  %5s MB peak  (processes only)\n' pidstat "$cpu" "$(mb "$rss")"
	finish INT
else
	echo "missing: pidstat (apt-get install sysstat)"
fi
sadc=$(PATH=$PATH:/usr/lib/sysstat:/usr/lib/sa:/usr/lib64/sa command -v sadc)
if [ -n "$sadc" ]; then
	measure sadc "$sadc" -S XALL 1 "$most" "$dir/sa" && printf '%-10s %5s %% of one core  %5s MB peak  (host only)\n' sadc "$cpu" "$(mb "$rss")"
	finish INT
else
	echo "missing: sadc (apt-get install sysstat)"
fi

awk -v c="$own_cpu" -v r="$own_rss" -v cl="$cpu_limit" -v rl="$rss_limit" 'BEGIN {
	bad = 0
	if (c + 0 >= cl + 0) { printf "above the limit: %s %% of one core, at most %s %%\n", c, cl; bad = 1 }
	if (r / 1e6 >= rl + 0) { printf "above the limit: %.1f MB, at most %s MB\n", r / 1e6, rl; bad = 1 }
	exit bad
}'
