#!/usr/bin/env bash
# Does a service give what `kasoku split` predicted? isuumo on three hosts, each a network namespace held to
# 0.4 of a core, and this host as the generator: one run with all members on one host, what split
# says of it, then the runs of other layouts, each as one run file of all hosts.
#
#   bench/split.sh [VARIANT]       of isuumo, default counted
#
# What `kasoku split --edits` prints is what makes a layout: the option file of the database, its grants, the patch
# of nginx.conf; by hand come the service's address and DSN, which no run file has, and what /initialize needs.
#
# It prints one line for each layout: what was predicted, and what was measured. Exit status: 0 each
# layout's score is within 20 % of what was predicted, and each run has all hosts and findings that name
# them, 1 not, 3 nothing could be measured, or something else took this machine's CPU meanwhile. It takes root.
#
# Environment:
#   CORES    of each host, default 0.4
#   SECONDS_EACH  of load, default 60
#   LAYOUTS  default "mariadbd=db"; words with spaces between them are several
#   SIZE     of the lab's data, full or small, default small
#   KEEP     a directory that the run files are left in
#   KASOKU   directory with kasoku and kasoku-hub; default: they are built
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
dir=$(mktemp -d) || exit 3
pids=() names=(web app db gen) service=() groups=(/sys/fs/cgroup/cpu /sys/fs/cgroup/cpuacct)
[ -e "${groups[0]}/cgroup.procs" ] || groups=(/sys/fs/cgroup)
cores=${CORES:-0.4}
variant=${1:-counted}
fail() { echo "split.sh: $*" >&2; exit 3; }

declare -A init
# Ended one by one by id, and waited for: what nsenter started, then nsenter.
end() { # PID…
  local pid child
  for pid in "$@"; do
    for child in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null) "$pid"; do kill "$child" 2>/dev/null; done
  done
  for pid in "$@"; do wait "$pid" 2>/dev/null; done
}
stop() {
  local n g
  trap - EXIT INT TERM
  end "${service[@]}" "${pids[@]}"
  for n in "${names[@]}"; do # who is the first process of a namespace ends by KILL alone, and all in it with him
    [ -n "${init[$n]:-}" ] && kill -9 "${init[$n]}" 2>/dev/null
  done
  wait
  for n in "${names[@]}"; do
    ip netns del "ks-$n" 2>/dev/null
    for g in "${groups[@]}"; do rmdir "$g/kasoku-ks-$n" 2>/dev/null; done
  done
  ip link del ks0 2>/dev/null
  rm -rf "$dir"
}
trap stop EXIT
trap 'exit 3' INT TERM
[ "$(id -u)" = 0 ] || fail "namespaces are made by root"
bin=${KASOKU:-$dir/bin}
[ -n "${KASOKU:-}" ] || CGO_ENABLED=0 "${GO:-go}" build -trimpath -ldflags '-s -w' -o "$bin/" ./cmd/kasoku ./cmd/kasoku-hub || exit 3
for program in patch nginx mariadbd mariadb-install-db mariadb ip nsenter awk; do
  command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || fail "no $program here"
done
PATH=$PATH:/usr/sbin

# in_host HOST COMMAND…: with the network, the processes and the name of a host.
in_host() {
  local host=$1
  shift
  nsenter -t "${init[$host]}" --net --pid --mount --uts "$@"
}
as() { # as HOST COMMAND…: kasoku with a state of its own
  local host=$1
  shift
  in_host "$host" env XDG_STATE_HOME="$dir/$host" KASOKU_STATE='' "$bin/kasoku" "$@"
}

hosts() {
  ip link add ks0 type bridge && ip address add 10.77.0.1/24 dev ks0 && ip link set ks0 up || fail "no bridge"
  local i=2 n g
  for n in "${names[@]}"; do
    ip netns add "ks-$n" && ip link add "ks-$n" type veth peer name eth0 netns "ks-$n" || fail "no namespace"
    ip link set "ks-$n" master ks0 up
    ip -n "ks-$n" address add "10.77.0.$i/24" dev eth0
    ip -n "ks-$n" link set eth0 up
    ip -n "ks-$n" link set lo up
    nsenter --net="/run/netns/ks-$n" unshare --pid --fork --kill-child --mount-proc --uts bash -c "hostname $n; exec sleep infinity" &
    until init[$n]=$(cat "/proc/$!/task/$!/children" 2>/dev/null) && init[$n]=${init[$n]// /} && [ -n "${init[$n]}" ]; do sleep 0.05; done
    [ "$n" = gen ] && continue
    for g in "${groups[@]}"; do mkdir -p "$g/kasoku-ks-$n" || fail "no control group"; done
    if [ -e "${groups[0]}/kasoku-ks-$n/cpu.max" ]; then
      awk -v c="$cores" 'BEGIN { printf "%d 100000\n", c * 100000 }' >"${groups[0]}/kasoku-ks-$n/cpu.max"
    else
      awk -v c="$cores" 'BEGIN { printf "%d\n", c * 100000 }' >"${groups[0]}/kasoku-ks-$n/cpu.cfs_quota_us"
    fi
    i=$((i + 1))
  done
}
address() { case $1 in web) echo 10.77.0.2 ;; app) echo 10.77.0.3 ;; db) echo 10.77.0.4 ;; gen) echo 10.77.0.5 ;; esac; }

# on HOST COMMAND…: on a host, held to its cores. nsenter, since `ip netns exec` hides control groups.
on() {
  local host=$1
  shift
  exec nsenter -t "${init[$host]}" --net --pid --mount --uts bash -c 'for g in $1; do echo $$ >"$g/kasoku-ks-$2/cgroup.procs" || exit 3; done; shift 2; exec "$@"' \
    on "${groups[*]}" "$host" "$@"
}

# The lab's files: rows, settings of the database, configuration of nginx.
files() {
  export XDG_STATE_HOME=$dir/lab KASOKU_STATE=
  "$bin/kasoku" lab up isuumo -variant "$variant" -size "${SIZE:-small}" >"$dir/up" || fail "no lab: $(tail -3 "$dir/up")"
  local lab=$dir/lab/kasoku/labs/isuumo
  cp -r "$lab/sql" "$lab/fixture" "$lab/my.cnf" "$dir/"
  cp -r "$lab/nginx" "$dir/nginx"
  defects=$(awk -F'"' '$2 == "defects" { print $4 }' "$lab/state.json")
  sed -i "s#$lab/nginx#$dir/nginx#g" "$dir/nginx/nginx.conf"
  cp "$dir/nginx/nginx.conf" "$dir/nginx.template"
  "$bin/kasoku" lab down isuumo >/dev/null
  cp "$bin/kasoku" "$dir/isuumo"
}

database() { # HOST
  local data=$dir/data-$1
  if [ ! -d "$data" ]; then
    mariadb-install-db --no-defaults --user=root --datadir="$data" --auth-root-authentication-method=normal >"$dir/install" 2>&1 || fail "no database"
  fi
  mkdir -p "$dir/$1.d"
  printf '!include %s\n[mysqld]\nbind-address = 127.0.0.1\n!includedir %s\n' "$dir/my.cnf" "$dir/$1.d" >"$dir/$1.cnf"
  on "$1" mariadbd --defaults-file="$dir/$1.cnf" --user=root --datadir="$data" --port=3306 --socket="$dir/$1.sock" \
    --pid-file="$dir/$1.pid" --log-error="$dir/$1.err" --slow-query-log-file="$dir/$1-slow.log" &
  service+=($!)
  until mariadb --no-defaults -uroot -S "$dir/$1.sock" -e 'SELECT 1' >/dev/null 2>&1; do
    kill -0 "${service[-1]}" 2>/dev/null || fail "mariadbd ended: $(tail -3 "$dir/$1.err")"
    sleep 0.1
  done
  mariadb --no-defaults -uroot -S "$dir/$1.sock" -e "CREATE DATABASE IF NOT EXISTS isuumo CHARACTER SET utf8mb4;
    CREATE USER IF NOT EXISTS isucon@127.0.0.1 IDENTIFIED BY 'isucon'; GRANT ALL ON isuumo.* TO isucon@127.0.0.1" || fail "no grants"
  [ -s "$dir/grants.sql" ] || return 0
  mariadb --no-defaults -uroot -S "$dir/$1.sock" <"$dir/grants.sql" || fail "the grants are refused"
  sed -n "s/^GRANT .* ON \(.*\)/GRANT CREATE, DROP, ALTER, INDEX, DELETE, TRIGGER ON \1/p" "$dir/grants.sql" |
    mariadb --no-defaults -uroot -S "$dir/$1.sock" || fail "no grants for /initialize"
}

application() { # HOST DATABASE LISTEN
  KASOKU_LAB_DSN="isucon:isucon@tcp($2:3306)/isuumo" on "$1" "$dir/isuumo" lab serve isuumo --defects "$defects" --sql "$dir/sql" \
    --fixture "$dir/fixture" --listen "$3:1323" --ready "$dir/ready" >"$dir/app.log" 2>&1 &
  service+=($!)
  until [ -s "$dir/ready" ]; do
    kill -0 "${service[-1]}" 2>/dev/null || fail "the service ended: $(tail -3 "$dir/app.log")"
    sleep 0.1
  done
  rm -f "$dir/ready"
}

webserver() {
  sed -E "s#^( *)server \".*\";#\1server \"127.0.0.1:1323\";#; s#^( *)listen .*;#\1listen 10.77.0.2:8080;#" "$dir/nginx.template" >"$dir/nginx/nginx.conf"
  if [ -s "$dir/nginx.patch" ]; then
    patch -s "$dir/nginx/nginx.conf" <"$dir/nginx.patch" || fail "the patch of nginx.conf is refused"
  fi
  in_host web nginx -t -q -p "$dir/nginx/" -c "$dir/nginx/nginx.conf" -e "$dir/nginx/start.log" || fail "nginx -t refuses the file"
  : >"$dir/nginx/access.log"
  on web nginx -p "$dir/nginx/" -c "$dir/nginx/nginx.conf" -e "$dir/nginx/start.log" -g 'daemon off;' &
  service+=($!)
  until (exec 3<>/dev/tcp/10.77.0.2/8080) 2>/dev/null; do sleep 0.1; done
}

# text WORD: of the edits in split.json the texts of those whose title has a word.
text() {
  awk -v word="$1" '/"title":/ { on = index($0, word) > 0 } on && /"text":/ { sub(/^ *"text": "/, ""); sub(/",$/, ""); print }' \
    "$dir/edits.json" | sed 's/\\"/"/g' | while IFS= read -r line; do printf '%b' "$line"; done
}

# edits LAYOUT: the files that make it.
edits() {
  as gen split "$first" --hosts app,db --layout "$1" --edits --addresses web=10.77.0.2,app=10.77.0.3,db=10.77.0.4 -o json >"$dir/edits.json" ||
    fail "no edits: $1"
  rm -f "$dir"/*.d/*.cnf
  local db=web
  [[ $1 == *mariadbd=* ]] && db=${1#*mariadbd=} db=${db%%,*}
  mkdir -p "$dir/$db.d"
  text 'the database listens' >"$dir/$db.d/zz-kasoku-split.cnf"
  text 'is let in from' | sed "s/APP_USER/isucon/g; s/APP_PASSWORD/isucon/g" >"$dir/grants.sql"
  text 'passes requests on' >"$dir/nginx.patch"
}

layout() { # MEMBER=HOST…: what is elsewhere than on web
  end "${service[@]}"
  service=()
  local db=web app=web word dbat=127.0.0.1 appat=127.0.0.1
  for word in "$@"; do
    case $word in
    mariadbd=*) db=${word#*=} dbat=$(address "$db") ;;
    isuumo=*) app=${word#*=} appat=$(address "$app") ;;
    esac
  done
  [ "$db" = "$app" ] && [ "$db" != web ] && dbat=127.0.0.1
  [ "$db" = web ] && [ "$app" != web ] && dbat=10.77.0.2
  database "$db"
  application "$app" "$dbat" "$appat"
  webserver
  local n
  for n in web app db; do mkdir -p "$dir/$n"; echo "project = 'isuumo'" >"$dir/$n/kasoku.toml"; done
  [ "$app" = web ] || printf '[service]\nurl = "http://%s:1323/"\n' "$appat" >>"$dir/$app/kasoku.toml"
  printf '[logs]\naccess = ["%s"]\n' "$dir/nginx/access.log" >>"$dir/web/kasoku.toml"
  printf '[mysql]\ndsn = "root@unix(%s)/isuumo"\n' "$dir/$db.sock" >>"$dir/$db/kasoku.toml"
  mkdir -p "$dir/own"
  cat >"$dir/own/kasoku.toml" <<TOML
project = 'isuumo'
[fleet]
record = ['web', 'app', 'db']
[load]
command = "$bin/kasoku lab bench isuumo --target http://10.77.0.2:8080 -size ${SIZE:-small} -duration ${SECONDS_EACH:-60}s -load-seed 7"
TOML
}

fleet() {
  as gen hub --listen 10.77.0.5:7432 --invites 0 >"$dir/hub.log" 2>&1 &
  pids+=($!)
  until grep -qs 'hub at' "$dir/hub.log"; do sleep 0.1; done
  local n
  for n in web app db; do
    local line
    line=$(as gen hub invite "$n") || fail "no invitation"
    as "$n" agent "$line" --name "$n" --allow "record=$dir/$n/kasoku.toml" >"$dir/$n.agent" 2>&1 &
    pids+=($!)
  done
  for n in web app db; do until grep -qs 'answers at hub' "$dir/$n.agent"; do sleep 0.1; done; done
}

# spent: seconds in which this machine's cores were busy, and all of them.
spent() { awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6, all }' /proc/stat; }

run() { # LABEL: one run of all hosts
  local busy0 all0 busy1 all1
  read -r busy0 all0 < <(spent)
  (cd "$dir/own" && in_host gen --wd="$dir/own" env XDG_STATE_HOME="$dir/gen" KASOKU_STATE='' "$bin/kasoku" run --label "$1" >"$dir/run.log" 2>&1)
  local code=$?
  read -r busy1 all1 < <(spent)
  disturbed=$(awk -v b=$((busy1 - busy0)) -v a=$((all1 - all0)) 'BEGIN { if (b > 0.93 * a) printf "%.0f", b / a * 100 }')
  [ -n "$disturbed" ] && echo "run $1: this machine was $disturbed % busy: hosts did not get what they are held to, and it does not count"
  file=$(ls "$dir/own/runs/"*"-$1.kasoku" 2>/dev/null | tail -1)
  [ -n "$file" ] || fail "no run $1 (exit $code): $(tail -20 "$dir/run.log")"
  [ -n "${KEEP:-}" ] && mkdir -p "$KEEP" && cp "$file" "$KEEP/"
  score=$(as gen show "$file" -o json | awk '$1 == "\"score\":" { on = 1 } on && $1 == "\"value\":" { sub(",$", "", $2); print $2; exit }')
  as gen show "$file" -o json >"$dir/run.json"
  awk -v run="$1" '/"hosts": \[/ { in_ = 1 } in_ && $1 == "\"name\":" { gsub(/[",]/, "", $2); hosts = hosts " " $2; n++ } in_ && /^  \]/ { in_ = 0 }
    /"cause": "This is of host / { sub(/.*This is of host /, ""); sub(/[.].*/, ""); of[$0]++ }
    END { for (h in of) { found = found sprintf(" %s %d", h, of[h]); k++ }
      printf "run %s: hosts%s; findings that name a host:%s\n", run, hosts, found; exit n != 4 || k < 1 }' "$dir/run.json" || status=1
  [ -n "$score" ] || fail "run $1 has no score: $(tail -20 "$dir/run.log")"
}

status=0
hosts
files
fleet
layout
run one
[ -n "$disturbed" ] && exit 3
one=$score first=$file
echo "one host: score $one"
as gen split "$first" --hosts app,db
[ "${LAYOUTS:-}" = none ] && exit 0
n=0
for words in ${LAYOUTS:-mariadbd=db}; do
  n=$((n + 1))
  IFS=, read -ra moves <<<"$words"
  as gen split "$first" --hosts app,db --layout "$words" -o json >"$dir/split.json" || fail "split: $words"
  read -r low mid high < <(awk '/"layouts"/ { on = 1 } on && /"gain_ratio"/ { in_ = 1 } in_ && /"(low|mid|high)"/ {
    gsub(/[",]/, ""); sub(":", "", $1); v[$1] = $2; if (++k == 3) { print v["low"], v["mid"], v["high"]; exit } }' "$dir/split.json")
  edits "$words"
  layout "${moves[@]}"
  run "two$n"
  awk -v words="$words" -v low="$low" -v mid="$mid" -v high="$high" -v one="$one" -v two="$score" 'BEGIN {
    off = two / one / mid - 1
    printf "%s: predicted x%.3f (%.3f to %.3f), score %.0f; measured x%.3f, score %.0f; off by %+.1f %%\n", words, mid, low, high,
      one * mid, two / one, two, off * 100
    exit off > 0.2 || off < -0.2 }' || { [ -n "$disturbed" ] && skipped=3 || status=1; }
done
[ $status = 0 ] && status=${skipped:-0}
exit $status
