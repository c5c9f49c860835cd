# A help desk in Spring Boot (Spring Data JPA, Hibernate, HikariCP as it comes), on MySQL 9.7; 30,000 tickets, 150,000 comments.
# Written for this, as an ordinary programmer writes one: entities that load lazily, derived queries, ddl-auto.
database=mysql97

app_install() {
  apt mariadb-client nginx maven
  [[ -f $dir/helpdesk.jar ]] && return 0
  rm -rf "$dir/src" && cp -r "$here/apps/helpdesk" "$dir/src"
  (cd "$dir/src" && mvn -q -B package >"$dir/mvn.out" 2>&1 && cp target/helpdesk-1.0.jar "$dir/helpdesk.jar")
}

app_up() {
  background app java -Xmx512m -jar "$dir/helpdesk.jar" --server.port="$(freeport app)" --spring.datasource.password=field \
    "--spring.datasource.url=jdbc:mysql://127.0.0.1:$(freeport mysql)/helpdesk?useSSL=false&allowPublicKeyRetrieval=true"
  waitfor "the help desk" curl -fsS -o /dev/null "http://127.0.0.1:$(freeport app)/api/tickets"
  if [[ ! -e $dir/seeded ]]; then
    sql helpdesk <"$here/apps/helpdesk.sql"
    touch "$dir/seeded"
  fi
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-For \$remote_addr; }
N
}
