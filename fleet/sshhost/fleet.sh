#!/bin/sh
# fleet.sh up|run|loop|down|logs: the agent of this host, for `kasoku fleet` of another one.
# Options of kasoku-hub come by standard input, a line each, as a join line is among them.
umask 077
cd "$(dirname "$0")" || exit 3
d=$(pwd)

agent() { KASOKU_HUB_OPTIONS=$1 bin/kasoku-hub </dev/null; }

# by_systemd starts a unit, where there is a systemd that takes one of this user.
by_systemd() {
  [ -d /run/systemd/system ] && command -v systemd-run >/dev/null 2>&1 || return 1
  set -- --quiet --collect --unit=kasoku-fleet -p Restart=on-failure -p RestartSec=2 -p NoNewPrivileges=yes
  if [ "$(id -u)" = 0 ]; then
    set -- "$@" -p ProtectSystem=strict -p "ReadWritePaths=$(dirname "$d") -/tmp" -p ProtectKernelTunables=yes \
      -p ProtectControlGroups=yes -p RestrictSUIDSGID=yes -p LockPersonality=yes
  else
    systemctl --user show-environment >/dev/null 2>&1 || return 1
    set -- --user "$@"
  fi
  systemd-run "$@" /bin/sh "$d/fleet.sh" run >/dev/null 2>&1
}

case $1 in
up)
  IFS= read -r end && IFS= read -r join && IFS= read -r options || exit 3
  agent "$end" || exit 3
  [ ! -f agent.log ] || mv -f agent.log agent.log.1
  agent "$join" >agent.log || exit 3
  printf '%s\n' "$options" >options.json && : >up || exit 3
  if by_systemd; then
    echo "kasoku-by systemd"
  elif command -v setsid >/dev/null 2>&1; then
    setsid sh "$d/fleet.sh" loop </dev/null >/dev/null 2>&1 &
    echo "kasoku-by sh"
  else
    sh "$d/fleet.sh" loop </dev/null >/dev/null 2>&1 &
    echo "kasoku-by sh"
  fi
  ;;
run)
  KASOKU_HUB_OPTIONS=$(cat options.json) || exit 3
  KASOKU_STATE=$(dirname "$d") # where a recorder keeps what it has to put back; a unit has no HOME
  export KASOKU_HUB_OPTIONS KASOKU_STATE
  exec bin/kasoku-hub >>agent.log 2>&1
  ;;
loop)
  wait=1
  while [ -e up ]; do
    sh "$d/fleet.sh" run
    [ -e up ] || break
    sleep $wait
    [ $wait -ge 60 ] || wait=$((wait * 2))
  done
  ;;
down)
  IFS= read -r end || exit 3
  agent "$end" || exit 3
  rm -f hub.sock
  [ "$2" != purge ] || rm -rf "$d"
  ;;
logs)
  [ ! -f agent.log ] || tail -n "$2" agent.log
  ;;
*) exit 2 ;;
esac
