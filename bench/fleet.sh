#!/usr/bin/env bash
# What a fleet costs and how true its figures are, on one machine: an nginx that logs each
# request, a hub, and agents as processes of their own.
#
#   bench/fleet.sh load    4 generators against one, in turns: merged p50, p99 and p99.9, the
#                          requests that the target's log has, and by how much starts differ
#                          (all clocks are one here, so what a generator's is said to be off is its error)
#   bench/fleet.sh agents  50 agents: the hub's CPU, memory and traffic, idle and under a load of all
#   bench/fleet.sh logs    access logs on 4 hosts, which read their own, against one pass over all of them:
#                          the same JSON byte for byte but for the hosts' names, and the speed of each host, as its
#                          disk and caches gave it, and for each second of CPU time
#
# Exit status: 0 measured, 3 when nothing could be measured.
#
# Environment:
#   RATES    default "2000 5000 10000 20000"
#   SECONDS_EACH  of a load, default 8
#   ROUNDS   of load, default 3
#   AGENTS   default 50
#   LOG_GB   of all logs together, default 1; LOG_DIR: where they are made, and taken away again
#   KASOKU   directory with kasoku and kasoku-hub; default: they are built
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
dir=$(mktemp -d) || exit 3
pids=()
# Ended one by one by id, and waited for.
stop() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
  wait
  rm -rf "$dir" ${logs:+"$logs"}
}
trap stop EXIT
bin=${KASOKU:-$dir/bin}
[ -n "${KASOKU:-}" ] || CGO_ENABLED=0 "${GO:-go}" build -trimpath -ldflags '-s -w' -o "$bin/" ./cmd/kasoku ./cmd/kasoku-hub || exit 3
logs=
for program in nginx awk; do command -v "$program" >/dev/null || { echo "fleet.sh: no $program here" >&2; exit 3; }; done

as() { # as HOST COMMAND…: kasoku with a state of its own
  local host=$1
  shift
  XDG_STATE_HOME=$dir/$host KASOKU_STATE='' "$bin/kasoku" "$@"
}

begin_hub() {
  XDG_STATE_HOME=$dir/hub KASOKU_STATE='' "$bin/kasoku" hub --listen 127.0.0.1:0 --invites 0 >"$dir/hub.log" &
  hub=$!
  pids+=("$hub")
  until grep -qs 'hub at' "$dir/hub.log"; do sleep 0.1; done
}

begin_agents() { # N
  local i
  for i in $(seq "$1"); do
    XDG_STATE_HOME=$dir/gen$i KASOKU_STATE='' "$bin/kasoku" agent "$(as hub hub invite "gen$i")" --name "gen$i" \
      --allow "load=http://127.0.0.1:18099/" >"$dir/gen$i.log" &
    pids+=($!)
  done
  for i in $(seq "$1"); do until grep -qs answers "$dir/gen$i.log"; do sleep 0.1; done; done
}

begin_target() {
  mkdir -p "$dir/nginx"
  cat >"$dir/nginx/nginx.conf" <<CONF
worker_processes 1;
daemon off;
error_log $dir/nginx/error.log;
pid $dir/nginx/pid;
events { worker_connections 10000; }
http {
  log_format seq '\$http_x_vegeta_seq';
  access_log $dir/nginx/access.log seq buffer=256k flush=1s;
  keepalive_requests 1000000000;
  client_body_temp_path $dir/nginx/a; proxy_temp_path $dir/nginx/b; fastcgi_temp_path $dir/nginx/c;
  uwsgi_temp_path $dir/nginx/d; scgi_temp_path $dir/nginx/e;
  server { listen 127.0.0.1:18099 backlog=4096; location / { return 200 ok; } }
}
CONF
  nginx -c "$dir/nginx/nginx.conf" -p "$dir/nginx" &
  pids+=($!)
  until (exec 3<>/dev/tcp/127.0.0.1/18099) 2>/dev/null; do sleep 0.1; done
}

value() { awk -v key="\"$1\":" '$1 == key { sub(",$", "", $2); print $2; exit }' "$2"; }
latency() { awk -v key="\"$1\":" '/"latency"/ { on = 1 } on && $1 == key { sub(",$", "", $2); printf "%.3f", $2 * 1000; exit }' "$2"; }

one_load() { # GENERATORS RATE
  : >"$dir/nginx/access.log"
  as hub attack --from "$1" -rate "$2" -duration "${SECONDS_EACH:-8}s" -o json http://127.0.0.1:18099/ >"$dir/out.json" 2>"$dir/err" ||
    { cat "$dir/err" >&2; return; }
  sleep 1.5 # nginx flushes its log
  local lines unique m
  lines=$(wc -l <"$dir/nginx/access.log")
  unique=$(sort -u "$dir/nginx/access.log" | wc -l)
  m=$(awk -F, '{ print NF }' <<<"$1")
  awk -v m="$m" -v rate="$2" -v p50="$(latency p50_s "$dir/out.json")" -v p99="$(latency p99_s "$dir/out.json")" \
    -v p999="$(latency p999_s "$dir/out.json")" -v asked="$(value requests "$dir/out.json")" -v ok="$(value success "$dir/out.json")" \
    -v lines="$lines" -v unique="$unique" -v skew="$(value skew_s "$dir/out.json")" '
    /"clock_offset_s"/ { sub(",$", "", $2); v = $2 * 1e6; if (n++ == 0 || v < lo) lo = v; if (n == 1 || v > hi) hi = v }
    /"peak_cores"/ { sub(",$", "", $2); cores += $2 }
    END { printf "m=%d rate=%d p50=%s p99=%s p99.9=%s ms  asked=%d answered=%d log=%d different=%d  starts: bound %.0f us, true %.0f us\n",
          m, rate, p50, p99, p999, asked, ok, lines, unique, skew * 1e6, hi - lo }' "$dir/out.json"
}

load() {
  begin_target
  begin_agents 4
  local rate round
  for rate in ${RATES:-2000 5000 10000 20000}; do
    for round in $(seq "${ROUNDS:-3}"); do
      one_load gen1 "$rate"
      one_load gen1,gen2,gen3,gen4 "$rate"
    done
  done
}

cpu() { awk '{ print ($14 + $15) / 100 }' "/proc/$1/stat"; }
rss() { awk '/VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$1/status"; }

over() { # SECONDS WHAT COMMAND…: what hub and the first agent use meanwhile
  local seconds=$1 what=$2 h0 a0 b0 b1
  shift 2
  h0=$(cpu "$hub") a0=$(cpu "${agents[0]}") b0=$(awk '/lo:/ { print $2 }' /proc/net/dev)
  "$@" >/dev/null 2>"$dir/err" || cat "$dir/err" >&2
  b1=$(awk '/lo:/ { print $2 }' /proc/net/dev)
  awk -v what="$what" -v s="$seconds" -v h0="$h0" -v h1="$(cpu "$hub")" -v a0="$a0" -v a1="$(cpu "${agents[0]}")" -v hr="$(rss "$hub")" \
    -v ar="$(rss "${agents[0]}")" -v bytes=$((b1 - b0)) -v n="${AGENTS:-50}" 'BEGIN {
    printf "%s: hub %.2f %% of a core, %s MB; an agent %.2f %%, %s MB; %.1f kB/s an agent on the loopback\n", what, (h1 - h0) / s * 100, hr,
      (a1 - a0) / s * 100, ar, bytes / s / n / 1000 }'
}

agents() {
  begin_target
  begin_agents "${AGENTS:-50}"
  agents=("${pids[@]:2}")
  local names
  names=$(seq -s, -f 'gen%.0f' "${AGENTS:-50}")
  echo "${AGENTS:-50} agents"
  over 60 idle sleep 60
  over 60 "a load of 1 request a second each" as hub attack --from "$names" -rate "${AGENTS:-50}" -duration 60s -o text http://127.0.0.1:18099/
}

make_logs() { # 4 hosts, each with a log of its own lines, repeated, and a smaller one before it
  local i n base
  for i in 1 2 3 4; do
    mkdir -p "$logs/web$i"
    awk -v seed="$i" 'BEGIN {
      srand(seed); split("GET GET GET POST", m, " "); split("200 200 200 200 304 404 500", c, " ")
      for (n = 0; n < 600000; n++) {
        path = n % 5 == 0 ? "/web" seed "/list?page=" n : n % 5 == 1 ? "/users/" int(rand() * 1e6) "/posts" : "/items/" int(rand() * 500)
        printf "10.0.%d.%d - - [20/Nov/2026:%02d:%02d:%02d +0900] \"%s %s HTTP/1.1\" %d %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\" %.3f\n",
          rand() * 256, rand() * 256, 10 + n / 3600 % 12, n / 60 % 60, n % 60, m[1 + int(rand() * 4)], path, c[1 + int(rand() * 7)], rand() * 20000,
          -log(1 - rand()) / 10
      } }' >"$logs/base"
    base=$(stat -c %s "$logs/base")
    for n in $(seq $((${LOG_GB:-1} * 1000000000 / 4 / base))); do cat "$logs/base"; done >"$logs/web$i/access.log"
    cp "$logs/base" "$logs/web$i/access.log.1"
  done
  rm "$logs/base"
}

logs() {
  local i hosts=() own=()
  logs=$(mktemp -d -p "${LOG_DIR:-$dir}") || exit 3
  make_logs
  for i in 1 2 3 4; do
    XDG_STATE_HOME=$dir/web$i KASOKU_STATE='' "$bin/kasoku" agent "$(as hub hub invite "web$i")" --name "web$i" \
      --allow "logs=$logs/web$i/*" >"$dir/web$i.log" &
    pids+=($!)
    hosts+=("web$i:$logs/web$i/*") own+=("$logs/web$i/*")
  done
  for i in 1 2 3 4; do until grep -qs answers "$dir/web$i.log"; do sleep 0.1; done; done
  du -sh --apparent-size "$logs" | awk '{ print $1 " of logs on 4 hosts" }'
  echo "one pass: $(as own accesslog "${own[@]}" -o json -v 2>&1 >"$dir/one.json")"
  echo "4 hosts:"
  as hub accesslog "${hosts[@]}" -o json -v >"$dir/hosts.json" 2>"$dir/err" || echo "exit $?"
  sed 's/^/  /' "$dir/err"
  sed "s#\"web[1-4]:$logs#\"$logs#" "$dir/hosts.json" | cmp - "$dir/one.json" &&
    echo "the same JSON, $(stat -c %s "$dir/one.json") bytes, of $(value requests "$dir/one.json") requests"
  echo "again, all tables kept:"
  as hub accesslog "${hosts[@]}" -o json -v 2>&1 >"$dir/again.json" | head -1 | sed 's/^/  /'
  cmp "$dir/again.json" "$dir/hosts.json"
}

begin_hub
case ${1:-load} in
load) load ;;
agents) agents ;;
logs) logs ;;
*) echo "fleet.sh: want load, agents or logs" >&2 && exit 3 ;;
esac
