# Ghost 5 as npm has it (Node.js 18 or 20, knex, mysql2), on MySQL 9.7; 6,000 posts, 20,000 members.
database=mysql97

app_install() {
  apt mariadb-client nginx
  [[ -e $dir/www/node_modules/knex ]] && return 0
  (cd "$dir" && npm pack --silent ghost@5.130.6 >/dev/null && tar xzf ghost-*.tgz && rm ghost-*.tgz && rm -rf www && mv package www &&
    cd www && npm pkg delete devDependencies && {
      npm install --omit=dev --omit=optional --no-audit --no-fund --legacy-peer-deps && npm_config_nodedir=/usr npm rebuild re2
    } >"$dir/npm.out" 2>&1)
}

app_up() {
  cat >"$dir/www/config.production.json" <<J
{"url": "http://127.0.0.1:$(freeport web)", "server": {"host": "127.0.0.1", "port": $(freeport app)},
 "database": {"client": "mysql", "connection": {"host": "127.0.0.1", "port": $(freeport mysql), "user": "ghost", "password": "field", "database": "ghost"}},
 "mail": {"transport": "Direct"}, "logging": {"transports": ["stdout"], "level": "error"}, "privacy": {"useTinfoil": true},
 "paths": {"contentPath": "$dir/www/content"}}
J
  mkdir -p "$dir/log"
  cd "$dir/www"
  NODE_ENV=production background app node index.js
  waitfor Ghost curl -fsS -o /dev/null "http://127.0.0.1:$(freeport app)/"
  [[ -e $dir/seeded ]] && return 0
  sql ghost <"$here/apps/ghost.sql"
  touch "$dir/seeded"
  stop "$dir/app.pid" # it keeps the addresses of all posts in memory, read when it starts
  cd "$dir/www"
  NODE_ENV=production background app node index.js
  waitfor Ghost curl -fsS -o /dev/null "http://127.0.0.1:$(freeport app)/"
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-Proto \$scheme; }
N
}
