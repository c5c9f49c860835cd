# A magazine on Strapi 5 (Node.js, Koa, knex) from npm, as its REST API serves a page's front end, on MySQL 9.7; 20,000 articles
# as draft and published (40,000 rows), 60,000 comments.
database=mysql97

app_install() {
  apt mariadb-client nginx
  [[ -e $dir/www/node_modules/@strapi/core ]] && return 0
  mkdir -p "$dir/www"
  cat >"$dir/www/package.json" <<J
{"name": "field", "private": true, "version": "0.1.0", "strapi": {"uuid": false}, "dependencies": {"@strapi/strapi": "5.54.0",
 "@strapi/plugin-users-permissions": "5.54.0", "mysql2": "^3", "react": "^18", "react-dom": "^18", "react-router-dom": "^6", "styled-components": "^6"}}
J
  (cd "$dir/www" && npm install --no-audit --no-fund --omit=dev >"$dir/npm.out" 2>&1)
}

app_up() {
  cp -r "$here"/apps/strapi/* "$dir/www"
  mkdir -p "$dir/www/public/uploads"
  cd "$dir/www"
  export PORT="$(freeport app)" MYSQL="$(freeport mysql)" FIELD_URL="$url" NODE_ENV=production STRAPI_TELEMETRY_DISABLED=true STRAPI_DISABLE_UPDATE_NOTIFICATION=true
  background app node "$dir/www/node_modules/@strapi/strapi/bin/strapi.js" start
  waitfor Strapi curl -fsS -o /dev/null "http://127.0.0.1:$(freeport app)/_health"
  [[ -e $dir/seeded ]] && return 0
  sql strapi <"$here/apps/strapi.sql"
  touch "$dir/seeded"
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-For \$remote_addr; }
N
}
