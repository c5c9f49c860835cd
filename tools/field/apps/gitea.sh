# Gitea, built in a copy of its module (its pages without style sheets, which npm would make), on MariaDB; 20,000 issues.
app_install() {
  apt mariadb-server nginx git
  [[ -x $dir/gitea ]] && return 0
  mkdir -p "$dir/mod"
  (cd "$dir/mod" && printf 'module field\n' >go.mod && go mod download code.gitea.io/gitea@v1.26.0 &&
    cp -r "$(go env GOMODCACHE)/code.gitea.io/gitea@v1.26.0" "$dir/src" && chmod -R u+w "$dir/src" &&
    cd "$dir/src" && CGO_ENABLED=0 go build -trimpath -ldflags=-w -o "$dir/gitea" .)
  mkdir -p "$dir/src/public/assets/.vite"
  echo '{}' >"$dir/src/public/assets/.vite/manifest.json"
}

gitea() { "${as[@]}" "$dir/gitea" --config "$dir/app.ini" --work-path "$dir/work" "$@"; }

app_up() {
  as=(env HOME="$dir/work")
  mkdir -p "$dir/work"
  cat >"$dir/app.ini" <<I
RUN_USER = $([[ $(id -u) != 0 ]] && id -un || echo www-data)
RUN_MODE = prod
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = $(freeport app)
ROOT_URL = http://127.0.0.1:$(freeport web)/
STATIC_ROOT_PATH = $dir/src
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = mysql
HOST = 127.0.0.1:$(freeport mysql)
NAME = gitea
USER = gitea
PASSWD = field
[security]
INSTALL_LOCK = true
SECRET_KEY = field
[indexer]
ISSUE_INDEXER_TYPE = db
[service]
DISABLE_REGISTRATION = true
[log]
LEVEL = Warn
[cron.update_checker]
ENABLED = false
I
  if [[ $(id -u) == 0 ]]; then
    chown -R www-data "$dir/work" "$dir/app.ini"
    as=(setpriv --reuid=www-data --regid=www-data --clear-groups env HOME="$dir/work")
  fi
  chmod 711 "$dir/src"
  [[ -e $dir/seeded ]] || { gitea migrate; gitea admin user create --admin --username field --password fieldfield --email field@example.com --must-change-password=false; } >"$dir/seed.out" 2>&1
  background app "${as[@]}" "$dir/gitea" --config "$dir/app.ini" --work-path "$dir/work" web
  waitfor Gitea curl -fsS -o /dev/null "http://127.0.0.1:$(freeport app)/"
  [[ -e $dir/seeded ]] && return 0
  local i
  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    curl -fsS -o /dev/null -u field:fieldfield -H 'Content-Type: application/json' -d "{\"name\": \"p$i\", \"auto_init\": true, \"readme\": \"Default\"}" \
      "http://127.0.0.1:$(freeport app)/api/v1/user/repos"
  done
  sql gitea <"$here/apps/gitea.sql"
  touch "$dir/seeded"
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; client_max_body_size 64m; }
N
}
