# A magazine on Strapi 5 (Node.js, Koa, knex) from npm, as its REST API serves a page's front end, on MySQL 9.7; 20,000 articles
# as draft and published (40,000 rows), 60,000 comments. TUNED=1: its indexes made, a pool that holds the data, connections that
# nginx keeps, and answers of visitors without an account kept for five minutes (truth/strapi-tuned.md).
database=mysql97
[[ -z ${TUNED:-} ]] || mysql_options=--innodb-buffer-pool-size=512M

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
  if [[ ! -e $dir/seeded ]]; then
    sql strapi <"$here/apps/strapi.sql"
    touch "$dir/seeded"
  fi
  [[ -n ${TUNED:-} && ! -e $dir/tuned ]] || return 0
  sql strapi -e "CREATE INDEX articles_slug ON articles (slug); CREATE INDEX articles_day ON articles (day DESC); CREATE INDEX articles_views ON articles (views DESC)"
  touch "$dir/tuned"
}

app_http() {
  [[ -n ${TUNED:-} ]] || return 0
  cat <<N
upstream strapi { server 127.0.0.1:$(freeport app); keepalive 16; }
proxy_cache_path $dir/nginx/tmp/kept keys_zone=kept:4m max_size=200m inactive=10m;
N
}

app_server() {
  if [[ -z ${TUNED:-} ]]; then
    cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-For \$remote_addr; }
N
    return
  fi
  cat <<N
location = /nginx_status { access_log off; allow 127.0.0.1; deny all; stub_status; }
location / {
  proxy_pass http://strapi; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-For \$remote_addr;
  proxy_cache kept; proxy_cache_valid 200 5m; proxy_cache_lock on; proxy_cache_bypass \$http_authorization; proxy_no_cache \$http_authorization;
  gzip on; gzip_types application/json; gzip_proxied any;
}
N
}
