# A shop: Vendure (Node.js, NestJS, TypeORM, GraphQL) from npm, server and worker; 8,000 products, 20,000 orders.
app_install() {
  apt mariadb-server nginx
  [[ -e $dir/www/node_modules/@vendure/core ]] && return 0
  mkdir -p "$dir/www"
  echo '{"name": "field", "private": true}' >"$dir/www/package.json"
  (cd "$dir/www" && npm install --no-audit --no-fund --omit=optional @vendure/core@3.7.3 mysql2@3 >"$dir/npm.out" 2>&1)
}

app_up() {
  cp "$here"/apps/vendure/*.js "$dir/www"
  cd "$dir/www"
  export PORT="$(freeport app)" MYSQL="$(freeport mysql)" NODE_ENV=production
  if [[ ! -e $dir/seeded ]]; then
    SEED=1 node seed.js >"$dir/seed.out" 2>&1
    sql vendure <"$here/apps/vendure.sql"
    touch "$dir/seeded"
  fi
  background app node "$dir/www/server.js"
  [[ -e $dir/worker.pid ]] || background worker node "$dir/www/server.js" worker
  waitfor Vendure curl -fsS -o /dev/null "http://127.0.0.1:$(freeport app)/health"
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-For \$remote_addr; }
N
}
