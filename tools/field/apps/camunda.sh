# Camunda 7.22 (Java: Spring Boot, MyBatis, HikariCP), its REST API as Tasklist and programs call it, with MariaDB's own driver; a process
# of two tasks, 20,000 invoices under way and 40,000 in its history.
app_install() {
  apt mariadb-server nginx maven
  [[ -f $dir/camunda.jar ]] && return 0
  rm -rf "$dir/src" && cp -r "$here/apps/camunda" "$dir/src"
  (cd "$dir/src" && mvn -q -B package >"$dir/mvn.out" 2>&1 && cp target/camunda-1.0.jar "$dir/camunda.jar")
}

app_up() {
  api=http://127.0.0.1:$(freeport app)/engine-rest
  background app java -Xmx768m -jar "$dir/camunda.jar" --server.port="$(freeport app)" --spring.datasource.password=field \
    "--spring.datasource.url=jdbc:mariadb://127.0.0.1:$(freeport mysql)/camunda"
  waitfor Camunda curl -fsS -o /dev/null "$api/engine"
  [[ ! -e $dir/seeded ]] || return 0
  # One invoice of each kind by the API; the others are its rows.
  local one
  one=$(camunda_begin I-0)
  camunda_step '{"variables": {"approver": {"value": "user2"}}}'
  camunda_step '{"variables": {"approved": {"value": true, "type": "Boolean"}}}'
  camunda_copies "$one" 1 40000 | sql camunda
  one=$(camunda_begin I-0)
  camunda_copies "$one" 40001 60000 | sql camunda
  sql camunda <"$here/apps/camunda.sql"
  touch "$dir/seeded"
}

asks() { curl -fsS -H 'Content-Type: application/json' "$@"; }
firstid() { grep -o '"id":"[^"]*"' | head -1 | cut -d'"' -f4; }

# camunda_begin KEY: a new invoice; prints its id.
camunda_begin() {
  asks -d '{"businessKey": "'"$1"'", "variables": {"group": {"value": "accounting"}, "customer": {"value": "customer 0"},
    "amount": {"value": 1, "type": "Long"}}}' "$api/process-definition/key/invoice/start" | grep -o '"id":"[0-9a-f-]\{36\}"' | cut -d'"' -f4
}

# camunda_step VARIABLES: the open task is claimed and completed.
camunda_step() {
  local task
  task=$(asks "$api/task" | firstid)
  asks -d '{"userId": "user1"}' "$api/task/$task/claim"
  asks -d "$1" "$api/task/$task/complete"
}

# camunda_copies ID FIRST LAST: SQL that copies all rows of an invoice, with ids of their own.
camunda_copies() {
  local t columns values those
  for t in $(sql camunda -N -e "SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'camunda' AND COLUMN_NAME = 'ROOT_PROC_INST_ID_'
      AND TABLE_NAME REGEXP '^ACT_(RU_EXECUTION|HI_)'") ACT_RU_TASK ACT_RU_IDENTITYLINK ACT_RU_VARIABLE; do
    those="WHERE ROOT_PROC_INST_ID_ = '$1'"
    case $t in ACT_RU_TASK | ACT_RU_VARIABLE) those="WHERE PROC_INST_ID_ = '$1'" ;; ACT_RU_IDENTITYLINK) those= ;; esac
    columns=$(sql camunda -N -e "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY ORDINAL_POSITION) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'camunda' AND TABLE_NAME = '$t'")
    values=$(sql camunda -N -e "SELECT GROUP_CONCAT(IF(DATA_TYPE = 'varchar' AND CHARACTER_MAXIMUM_LENGTH = 64,
      CONCAT('IF(', COLUMN_NAME, ' REGEXP ''^([A-Za-z]+:)?[0-9a-f]{8}-[0-9a-f-]{27}$'', CONCAT(LEFT(', COLUMN_NAME, ', CHAR_LENGTH(', COLUMN_NAME, ') - 12), LPAD(HEX(n.seq), 12, ''0'')), ', COLUMN_NAME, ')'),
      COLUMN_NAME) ORDER BY ORDINAL_POSITION) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'camunda' AND TABLE_NAME = '$t'")
    echo "CREATE TEMPORARY TABLE one AS SELECT * FROM $t $those; SET foreign_key_checks=0;"
    echo "INSERT INTO $t ($columns) SELECT $values FROM one, seq_$2_to_$3 n; DROP TEMPORARY TABLE one;"
  done
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; }
N
}
