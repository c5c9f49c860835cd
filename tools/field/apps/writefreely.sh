# WriteFreely, blogs in Go with its SQL by hand, built in a copy of its module (without the proxy for Tor, whose module is
# not served, and without style sheets), on MariaDB; 20,000 posts in 12 blogs.
app_install() {
  apt mariadb-server nginx
  [[ -x $dir/writefreely ]] && return 0
  mkdir -p "$dir/mod"
  rm -rf "$dir/src"
  (cd "$dir/mod" && printf 'module field\n' >go.mod && go mod download github.com/writefreely/writefreely@v0.15.1 &&
    cp -r "$(go env GOMODCACHE)/github.com/writefreely/writefreely@v0.15.1" "$dir/src" && chmod -R u+w "$dir/src" &&
    cd "$dir/src" && mkdir socks && printf 'module code.as/core/socks\n\ngo 1.20\n' >socks/go.mod &&
    printf '%s\n' 'package socks' 'import ("errors"; "net")' 'const SOCKS5 = 2' \
      'func DialSocksProxy(int, string) func(string, string) (net.Conn, error) {' \
      '	return func(string, string) (net.Conn, error) { return nil, errors.New("no proxies here") }' '}' >socks/socks.go &&
    GOFLAGS=-mod=mod go mod edit -replace code.as/core/socks=./socks &&
    CGO_ENABLED=0 GOFLAGS=-mod=mod go build -trimpath -ldflags=-w -o "$dir/writefreely" ./cmd/writefreely)
}

app_up() {
  local as=()
  cat >"$dir/config.ini" <<I
[server]
port = $(freeport app)
bind = 127.0.0.1
templates_parent_dir = $dir/src
static_parent_dir = $dir/src
pages_parent_dir = $dir/src
keys_parent_dir = $dir/src
[database]
type = mysql
username = writefreely
password = field
database = writefreely
host = 127.0.0.1
port = $(freeport mysql)
[app]
site_name = Field
host = $url
theme = write
single_user = false
local_timeline = true
public_stats = true
max_blogs = 20
default_visibility = public
I
  mkdir -p "$dir/src/static/css"
  [[ -e $dir/seeded ]] || (cd "$dir" && ./writefreely --init-db && ./writefreely --gen-keys && ./writefreely --create-admin field:fieldfield) >"$dir/seed.out" 2>&1
  if [[ $(id -u) == 0 ]]; then
    chown -R www-data "$dir/src" "$dir/config.ini"
    as=(setpriv --reuid=www-data --regid=www-data --clear-groups)
  fi
  (cd "$dir" && background app "${as[@]}" "$dir/writefreely" -c "$dir/config.ini")
  waitfor WriteFreely curl -fsS -o /dev/null "http://127.0.0.1:$(freeport app)/"
  [[ -e $dir/seeded ]] && return 0
  sql writefreely <"$here/apps/writefreely.sql"
  touch "$dir/seeded"
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; }
N
}
