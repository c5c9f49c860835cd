# A magazine on Directus 11 (Node.js 20, Express, knex, mysql2) as its REST API serves a front end, on MariaDB;
# 20,000 articles, 60,000 comments, tables and relations as its studio makes them.
app_install() {
  apt mariadb-server nginx
  [[ -e $dir/app/node_modules/directus/package.json ]] && return 0
  mkdir -p "$dir/app"
  echo '{"name": "field", "private": true, "dependencies": {"directus": "11.3.5", "mysql2": "^3"}}' >"$dir/app/package.json"
  (cd "$dir/app" && npm install --no-audit --no-fund --omit=dev >"$dir/npm.out" 2>&1)
}

app_up() {
  export HOST=127.0.0.1 PORT="$(freeport app)" PUBLIC_URL="$url" DB_CLIENT=mysql DB_HOST=127.0.0.1 DB_PORT="$(freeport mysql)" DB_USER=directus \
    DB_PASSWORD=field DB_DATABASE=directus SECRET=fieldfieldfieldfieldfieldfieldfield KEY=field ADMIN_EMAIL=admin@example.com \
    ADMIN_PASSWORD=fieldfield TELEMETRY=false WEBSOCKETS_ENABLED=false LOG_LEVEL=warn NODE_ENV=production
  cd "$dir/app"
  if [[ ! -e $dir/seeded ]]; then
    node node_modules/directus/cli.js bootstrap >"$dir/seed.out" 2>&1
    sql directus <"$here/apps/directus.sql"
    touch "$dir/seeded"
  fi
  background app node node_modules/directus/cli.js start
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-For \$remote_addr; }
N
}
