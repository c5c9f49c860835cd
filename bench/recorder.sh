#!/usr/bin/env bash
# What recording costs: CPU and memory of a recorder that samples host, 300
# processes and, when there is one, MariaDB, every second into a run file; beside it
# what netdata costs, and sysstat (sadc for the host, pidstat for processes).
# Measured from outside, by /proc/PID/stat of the process and its children, beginning
# 3 s after the start, so that only recording counts.
#
# netdata and sysstat run with their own configuration in a directory of their own,
# on the loopback alone, without alarms and without reports to anyone. Debian's netdata
# has no collector for MySQL: it reads host and processes.
#
# Exit status: 0 below the limits, 1 above, 3 when nothing could be measured.
#
# Environment:
#   SECONDS_LONG  how long to measure, default 30
#   PROCESSES     idle processes to start, default 300
#   CPU_LIMIT     percent of one core, default 0.5
#   RSS_LIMIT     MB of 1,000,000 bytes above `kasoku version`, default 30
#   KASOKU        kasoku to measure; default: built from ./cmd/kasoku, and where
#                 that does not build, bench/recorder, which only records
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3

long=${SECONDS_LONG:-30}
most=$((long + 15)) # what is measured ends by itself then, if no one ends it
processes=${PROCESSES:-300}
cpu_limit=${CPU_LIMIT:-0.5}
rss_limit=${RSS_LIMIT:-30}
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

# tree PID: the process and all that it started, one a line.
tree() {
	local all=" $1 " grown=1 pid ppid
	while [ "$grown" = 1 ]; do
		grown=0
		while read -r pid ppid; do
			case $all in *" $pid "*) continue ;; esac
			case $all in *" $ppid "*) all="$all$pid " grown=1 ;; esac
		done < <(cat /proc/[0-9]*/stat 2>/dev/null | sed 's/^\([0-9]*\) (.*) . \([0-9]*\) .*/\1 \2/')
	done
	tr ' ' '\n' <<<"$all" | grep .
}

# ticks PID…: user and system time so far of processes and their ended children, in
# 1/100 s. The name may hold spaces, so fields are counted from after it.
ticks() {
	local pid
	for pid; do sed 's/^.*) //' "/proc/$pid/stat" 2>/dev/null; done |
		awk '{ n += $12 + $13 + $14 + $15 } END { if (NR) print n }'
}

# memory FIELD PID…: the sum of VmRSS or VmHWM (the peak) in bytes.
memory() {
	local field=$1 pid
	shift
	for pid; do cat "/proc/$pid/status" 2>/dev/null; done |
		awk -v f="$field:" '$1 == f { n += $2 * 1024 } END { printf "%d", n }'
}

# measure NAME COMMAND…: runs it and sets cpu (percent of one core) and rss (peak,
# bytes; of children what they have of their own); fails when it ends early.
measure() {
	local name=$1 t0 t1 c0 c1
	shift
	"$@" >"$dir/$name.out" 2>"$dir/$name.err" &
	running=$!
	sleep 3
	t0=$EPOCHREALTIME c0=$(ticks $(tree "$running"))
	sleep "$long"
	t1=$EPOCHREALTIME c1=$(ticks $(tree "$running"))
	rss=$(($(memory VmHWM "$running") + $(memory RssAnon $(tree "$running" | tail -n +2))))
	if [ -z "$c0" ] || [ -z "$c1" ] || [ "$rss" = 0 ]; then
		echo "$name ended early:" >&2
		tail -5 "$dir/$name.err" >&2
		running=''
		return 1
	fi
	cpu=$(awk -v a="$c0" -v b="$c1" -v s="$t0" -v e="$t1" 'BEGIN { printf "%.2f", (b - a) / (e - s) }')
	return 0
}

# ratio NAME CPU RSS: how many times what kasoku takes that is.
ratio() {
	awk -v n="$1" -v c="$2" -v r="$3" -v oc="$own_cpu" -v om="$own_rss" 'BEGIN {
		printf "%-10s %5s %% of one core  %5.1f MB peak", n, c, r / 1e6
		if (oc > 0) printf "  %.1f × the CPU", c / oc
		if (om > 0) printf ", %.1f × the memory of kasoku", r / om
		print ""
	}'
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
	# A server that starts removes the temporary tables of others in its directory.
	TMPDIR=$dir "$install" --no-defaults --datadir="$dir/data" --auth-root-authentication-method=normal "${user[@]}" >"$dir/install.out" 2>&1 || return 1
	mariadbd --no-defaults --datadir="$dir/data" --tmpdir="$dir" --socket="$dir/sock" --bind-address=127.0.0.1 --port=0 --skip-networking \
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
	recorder=("$dir/kasoku" record --for "${most}s" --out "$dir/run.kasoku" "${dsn[@]}")
	what='kasoku record'
fi

# What kasoku takes that does nothing: it waits for a reader of its version.
mkfifo "$dir/full" && exec 3<>"$dir/full"
head -c 65536 /dev/zero >&3
if [ -x "$dir/kasoku" ]; then
	"$dir/kasoku" version >&3 2>&1 &
else
	"$dir/recorder" -idle -for 5s &
fi
running=$!
sleep 0.7
baseline=$(memory VmHWM "$running")
finish KILL
exec 3>&-

count=$(find /proc -maxdepth 1 -name '[0-9]*' | wc -l)
echo "$what, 1 s, ${long} s, $count processes${dsn:+, MariaDB}"
measure recorder "${recorder[@]}" || exit 3
finish INT
own_cpu=$cpu own_rss=$rss
above=$((own_rss - baseline))
printf '%-10s %5s %% of one core  %5s MB peak  %s MB above `kasoku version`\n' kasoku "$own_cpu" "$(mb "$own_rss")" "$(mb "$above")"
[ "$what" = bench/recorder ] && cat "$dir/recorder.out"
[ -f "$dir/run.kasoku" ] && echo "  run file: $(mb "$(stat -c %s "$dir/run.kasoku")") MB"

# netdata with all that it has, but for what listens or reports somebody.
netdata=$(PATH=$PATH:/usr/sbin:/opt/netdata/usr/sbin command -v netdata)
if [ -n "$netdata" ]; then
	mkdir -p "$dir/netdata"/{config,cache,lib,log,home}
	touch "$dir/netdata/config/.opt-out-from-anonymous-statistics"
	port=$((20000 + RANDOM % 20000))
	cat >"$dir/netdata/netdata.conf" <<-END
		[directories]
		config = $dir/netdata/config
		cache = $dir/netdata/cache
		lib = $dir/netdata/lib
		log = $dir/netdata/log
		home = $dir/netdata/home
		[global]
		run as user = $(id -un)
		[web]
		bind to = 127.0.0.1:$port
		[health]
		enabled = no
		[cloud]
		enabled = no
		[plugins]
		statsd = no
	END
	if DISABLE_TELEMETRY=1 DO_NOT_TRACK=1 measure netdata "$netdata" -D -c "$dir/netdata/netdata.conf" -P "$dir/netdata/pid"; then
		ratio netdata "$cpu" "$rss"
		echo "  $("$netdata" -V 2>/dev/null), host and processes, no database"
	fi
	finish TERM
else
	echo "missing: netdata (apt-get install netdata)"
fi

both_cpu=0 both_rss=0 both=''
if command -v pidstat >/dev/null; then
	if measure pidstat pidstat -urdwvh -p ALL 1 "$most"; then
		ratio pidstat "$cpu" "$rss"
		both_cpu=$cpu both_rss=$rss both=1
	fi
	finish INT
else
	echo "missing: pidstat (apt-get install sysstat)"
fi
sadc=$(PATH=$PATH:/usr/lib/sysstat:/usr/lib/sa:/usr/lib64/sa command -v sadc)
if [ -n "$sadc" ]; then
	if measure sadc "$sadc" -S XALL 1 "$most" "$dir/sa"; then
		ratio sadc "$cpu" "$rss"
		[ -n "$both" ] && ratio sysstat "$(awk -v a="$both_cpu" -v b="$cpu" 'BEGIN { printf "%.2f", a + b }')" $((both_rss + rss)) &&
			echo "  sadc and pidstat together: host and processes, no database"
	fi
	finish INT
else
	echo "missing: sadc (apt-get install sysstat)"
fi

awk -v c="$own_cpu" -v r="$above" -v cl="$cpu_limit" -v rl="$rss_limit" 'BEGIN {
	bad = 0
	if (c + 0 >= cl + 0) { printf "above the limit: %s %% of one core, at most %s %%\n", c, cl; bad = 1 }
	if (r / 1e6 >= rl + 0) { printf "above the limit: %.1f MB above `kasoku version`, at most %s MB\n", r / 1e6, rl; bad = 1 }
	exit bad
}'
