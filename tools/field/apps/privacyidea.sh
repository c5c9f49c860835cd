# A server of second factors: privacyIDEA (Flask, SQLAlchemy, PyMySQL, gunicorn) from PyPI, its database by a Unix socket, its user store by TCP; 10,000 users, 20,000 tokens, 60,000 audit entries.
app_install() {
  apt mariadb-server nginx
  [[ -x $dir/venv/bin/gunicorn ]] || {
    python3 -m venv "$dir/venv"
    "$dir/venv/bin/pip" install -q --disable-pip-version-check 'privacyidea==3.11.4' gunicorn PyMySQL
  }
}

app_up() {
  export PRIVACYIDEA_CONFIGFILE=$dir/pi.cfg
  local manage=$dir/venv/bin/pi-manage
  if [[ ! -e $dir/people ]]; then
    cat >"$dir/pi.cfg" <<P
SQLALCHEMY_DATABASE_URI = 'mysql+pymysql://privacyidea:field@localhost/privacyidea?unix_socket=$sock&charset=utf8mb4'
SECRET_KEY = 'field-field-field-field-field'
PI_PEPPER = 'field'
PI_ENCFILE = '$dir/enckey'
PI_AUDIT_KEY_PRIVATE = '$dir/private.pem'
PI_AUDIT_KEY_PUBLIC = '$dir/public.pem'
PI_LOGFILE = '$dir/privacyidea.log'
PI_LOGLEVEL = 40
PI_AUDIT_SQL_TRUNCATE = True
SUPERUSER_REALM = ['super']
P
    rm -f "$dir/enckey" "$dir"/*.pem
    { "$manage" setup create_enckey && "$manage" setup create_audit_keys && "$manage" setup create_tables &&
      "$manage" admin add admin -p field && sql privacyidea <"$here/apps/privacyidea/people.sql"; } >"$dir/seed.out" 2>&1
    touch "$dir/people"
  fi
  local up="http://127.0.0.1:$(freeport app)"
  background app "$dir/venv/bin/gunicorn" --no-control-socket -w 2 -k gthread --threads 4 -b "127.0.0.1:$(freeport app)" 'privacyidea.app:create_app(config_name="production", silent=True)'
  waitfor privacyIDEA curl -fsS -o /dev/null "$up/healthz/startupz"
  if [[ ! -e $dir/seeded ]]; then
    local token
    token=$(curl -fsS -d 'username=admin&password=field' "$up/auth" | python3 -c 'import json,sys; print(json.load(sys.stdin)["result"]["value"]["token"])')
    ask() { curl -fsS -H "Authorization: $token" "$@" >>"$dir/seed.out"; }
    ask -d "type=sqlresolver&Driver=mysql%2Bpymysql&Server=127.0.0.1&Port=$(freeport mysql)&Database=privacyidea&User=privacyidea&Password=field&Table=people&Limit=500" \
      --data-urlencode 'Map={"userid": "id", "username": "username", "surname": "surname", "givenname": "givenname", "email": "email", "password": "password"}' "$up/resolver/people"
    ask -d resolvers=people "$up/realm/staff"
    ask -X POST "$up/defaultrealm/staff"
    ask -d 'type=spass&serial=PISP0&pin=1234&user=user1&realm=staff' "$up/token/init"
    ask -d 'type=hotp&serial=OATH0&pin=9876&genkey=1&user=user1&realm=staff' "$up/token/init"
    sql privacyidea <"$here/apps/privacyidea.sql"
    touch "$dir/seeded"
  fi
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-For \$remote_addr; }
N
}
