#!/usr/bin/env bash
# What a fleet costs and how true its figures are, on one machine: an nginx that logs each
# request, a hub, and agents as processes of their own.
#
#   bench/fleet.sh load    4 generators against one, in turns: merged p50, p99 and p99.9, the
#                          requests that the target's log has, and by how much starts differ
#                          (all clocks are one here, so what a generator's is said to be off is its error); of
#                          each rate whether the medians of four lie where one is from round to round
#   bench/fleet.sh agents  50 agents: CPU, memory and traffic of the hub and of an agent, idle and while all send a
#                          load, held to their bounds; the traffic is all of the loopback, the load's too
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
#   SLOW     of load: not empty: the target takes some ms for an answer, spread, as a service does
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

# The target answers at once, or (SLOW, where nginx's echo module is) as a service does: its times are spread
# as an exponential's of mean 6 ms, in whole ms. At once, what is measured is how the two ends share the cores
# of one machine, which four processes do in another way than one: by 20 µs, which are nothing beside 4 ms.
begin_target() {
  mkdir -p "$dir/nginx"
  local module=/usr/lib/nginx/modules/ngx_http_echo_module.so load_module='' sleeps='' answer='return 200 ok;'
  if [ -n "${SLOW:-}" ]; then
    [ -e "$module" ] || { echo "fleet.sh: SLOW needs the echo module of nginx (libnginx-mod-http-echo)" >&2; exit 3; }
    load_module="load_module $module;"
    sleeps="split_clients \$request_id \$sleep {
      $(awk 'BEGIN { for (k = 1; k <= 46; k++) printf "%.2f%% %.3f; ", 100 * (exp(-(k - 1) / 6) - exp(-k / 6)), k / 1000 }') * 0.060; }"
    answer='echo_sleep $sleep; echo ok;'
  fi
  cat >"$dir/nginx/nginx.conf" <<CONF
$load_module
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
  $sleeps
  server { listen 127.0.0.1:18099 backlog=4096; location / { $answer } }
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
    done | tee "$dir/rounds"
    judge "$rate" <"$dir/rounds"
  done
}

# Are four as one is? Of each percentile the least and the most of the rounds, and whether the median of
# four lies where one is from round to round.
judge() {
  awk -v rate="$1" '
    function median(m, key, i, j, t, k, v) {
      k = n[m]
      for (i = 1; i <= k; i++) v[i] = all[m, key, i]
      for (i = 2; i <= k; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
      lo[m, key] = v[1]; hi[m, key] = v[k]
      return v[int((k + 1) / 2)]
    }
    {
      split($0, f, /[ =]+/); m = f[2]; n[m]++
      for (i = 3; i < 40; i++) if (f[i] ~ /^p[0-9.]+$/) all[m, f[i], n[m]] = f[i + 1] + 0
      for (i = 3; i < 40; i++) { if (f[i] == "asked") asked = f[i + 1]; if (f[i] == "answered" && f[i + 1] != asked) bad++
        if ((f[i] == "log" || f[i] == "different") && f[i + 1] != asked) bad++ }
    }
    END {
      printf "rate=%d of %d rounds:", rate, n[1]
      split("p50 p99 p99.9", keys, " ")
      for (i = 1; i <= 3; i++) {
        key = keys[i]; median(1, key); four = median(4, key)
        printf " %s one %.3f to %.3f, four %.3f to %.3f (median %.3f: %s);", key, lo[1, key], hi[1, key], lo[4, key],
          hi[4, key], four, (four > hi[1, key]) ? "above" : (four < lo[1, key]) ? "below" : "as one"
      }
      print " counts that differ from what was asked:", bad + 0
    }'
}

cpu() { local pid; for pid in "$@"; do awk '{ print ($14 + $15) / 100 }' "/proc/$pid/stat"; done; }
rss() { local pid; for pid in "$@"; do awk '/VmRSS/ { printf "%.1f\n", $2 / 1024 }' "/proc/$pid/status"; done; }

# What `kasoku version` takes, the largest of what is seen while it runs many times.
version_rss() {
  local i kb most=0
  for i in $(seq 200); do
    "$bin/kasoku" version >/dev/null &
    while kb=$(awk '/VmHWM/ { print $2 }' "/proc/$!/status" 2>/dev/null) && [ -n "$kb" ]; do
      ((kb > most)) && [ "$(readlink "/proc/$!/exe" 2>/dev/null)" = "$(realpath "$bin/kasoku")" ] && most=$kb
    done
    wait "$!"
  done
  awk -v kb="$most" 'BEGIN { printf "%.1f", kb / 1024 }'
}

over() { # WHAT COMMAND…: what hub and agents use meanwhile
  local what=$1 seconds h0 h1 b0 b1 began=$EPOCHREALTIME
  shift
  h0=$(cpu "$hub") b0=$(awk '/lo:/ { print $2 }' /proc/net/dev)
  cpu "${agents[@]}" >"$dir/cpu0"
  "$@" >/dev/null 2>"$dir/err" || cat "$dir/err" >&2
  seconds=$(awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { print to - from }')
  h1=$(cpu "$hub") b1=$(awk '/lo:/ { print $2 }' /proc/net/dev)
  cpu "${agents[@]}" >"$dir/cpu1"
  rss "${agents[@]}" >"$dir/rss"
  paste "$dir/cpu0" "$dir/cpu1" "$dir/rss" | awk -v what="$what" -v s="$seconds" -v h="$h0" -v h1="$h1" -v hr="$(rss "$hub")" \
    -v bytes=$((b1 - b0)) -v version="$version" '
    { c = ($2 - $1) / s * 100; sum += c; if (c > most) most = c; r += $3; if ($3 > large) large = $3; n++ }
    END {
      hub = (h1 - h) / s * 100; kb = bytes / s / n / 1000
      printf "%s, %.0f s: hub %.2f %% of a core, %.1f MB; an agent %.3f %% (most %.3f), %.1f MB (most %.1f, %.1f above version); %.2f kB/s an agent\n",
        what, s, hub, hr, sum / n, most, r / n, large, large - version, kb
      printf "  bounds: hub 5 %%, 150 MB; an agent 0.5 %%, 40 MB above version, 10 kB/s: %s\n",
        hub <= 5 && hr <= 150 && sum / n <= 0.5 && large - version <= 40 && kb <= 10 ? "kept" : "broken" }'
}

agents() {
  begin_target
  begin_agents "${AGENTS:-50}"
  agents=("${pids[@]:2}")
  local names version
  version=$(version_rss)
  names=$(seq -s, -f 'gen%.0f' "${AGENTS:-50}")
  echo "${AGENTS:-50} agents; kasoku version: $version MB"
  over idle sleep 60
  over "a load of 1 request a second each" as hub attack --from "$names" -rate "${AGENTS:-50}" -duration 60s -o text http://127.0.0.1:18099/
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
