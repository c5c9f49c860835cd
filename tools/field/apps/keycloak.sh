# Keycloak as Maven Central has it (Quarkus, Hibernate, Agroal), on MySQL 9.7; 20,000 users in a realm.
database=mysql97

app_install() {
  apt mariadb-client nginx unzip
  [[ -d $dir/www ]] && return 0
  local v=26.0.8
  mvn -q -B dependency:get -Dartifact=org.keycloak:keycloak-quarkus-dist:$v:zip -Dtransitive=false >"$dir/mvn.out" 2>&1
  (cd "$dir" && unzip -q "${HOME:-/root}/.m2/repository/org/keycloak/keycloak-quarkus-dist/$v/keycloak-quarkus-dist-$v.zip" && mv "keycloak-$v" www)
  "$dir/www/bin/kc.sh" build --db=mysql >"$dir/build.out" 2>&1
}

kc() { KC_BOOTSTRAP_ADMIN_USERNAME=field KC_BOOTSTRAP_ADMIN_PASSWORD=field JAVA_OPTS_KC_HEAP="-Xms256m -Xmx768m" "$@"; }

app_up() {
  kc background app "$dir/www/bin/kc.sh" start --optimized --http-enabled=true --http-host=127.0.0.1 --http-port="$(freeport app)" \
    --hostname="http://127.0.0.1:$(freeport web)" --proxy-headers=xforwarded --cache=local --db-username=keycloak --db-password=field \
    --db-url="jdbc:mysql://127.0.0.1:$(freeport mysql)/keycloak?allowPublicKeyRetrieval=true&useSSL=false"
  local up="http://127.0.0.1:$(freeport app)"
  waitfor Keycloak curl -fsS -o /dev/null "$up/realms/master"
  if [[ ! -e $dir/seeded ]]; then
    local token
    token=$(curl -fsS -d 'grant_type=password&client_id=admin-cli&username=field&password=field' "$up/realms/master/protocol/openid-connect/token" |
      python3 -c 'import json,sys; print(json.load(sys.stdin)["access_token"])')
    curl -fsS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d @"$here/apps/keycloak.json" "$up/admin/realms"
    sql keycloak <"$here/apps/keycloak.sql"
    touch "$dir/seeded"
  fi
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-Host \$http_host; proxy_set_header X-Forwarded-Proto \$scheme; proxy_buffer_size 16k; proxy_buffers 8 16k; }
N
}
