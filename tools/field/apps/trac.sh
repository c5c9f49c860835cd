# An issue tracker and wiki: Trac 1.6 from PyPI (SQL written by hand, no ORM), PyMySQL, gunicorn; 20,000 tickets, 90,000 changes, 40,000 values of two custom fields, 9,000 versions of 3,000 wiki pages.
app_install() {
  apt mariadb-server nginx
  [[ -x $dir/venv/bin/gunicorn ]] || {
    python3 -m venv "$dir/venv"
    "$dir/venv/bin/pip" install -q --disable-pip-version-check 'Trac==1.6' 'setuptools<80' gunicorn PyMySQL
  }
}

app_up() {
  if [[ ! -e $dir/seeded ]]; then
    rm -rf "$dir/env"
    sql "" -e "ALTER DATABASE trac COLLATE utf8mb4_bin"
    {
      "$dir/venv/bin/trac-admin" "$dir/env" initenv Field "mysql://trac:field@127.0.0.1:$(freeport mysql)/trac"
      printf '\n[ticket-custom]\ncustomer = text\ncustomer.label = Customer\neffort = text\neffort.label = Effort\n' >>"$dir/env/conf/trac.ini"
    } >"$dir/seed.out" 2>&1
    sql trac <"$here/apps/trac.sql"
    for n in $(seq 30); do echo "dev$n:{PLAIN}field"; done >"$dir/people"
    touch "$dir/seeded"
  fi
  background app env TRAC_ENV="$dir/env" PYTHONDONTWRITEBYTECODE=1 "$dir/venv/bin/gunicorn" --no-control-socket -w 2 -k gthread --threads 4 \
    --chdir "$here/apps/trac" -b "127.0.0.1:$(freeport app)" wsgi:application
}

app_server() {
  cat <<N
proxy_set_header Host \$http_host;
proxy_set_header X-Remote-User "";
location / { proxy_pass http://127.0.0.1:$(freeport app); }
location = /login {
  auth_basic Field; auth_basic_user_file $dir/people;
  proxy_set_header Host \$http_host;
  proxy_set_header X-Remote-User \$remote_user;
  proxy_pass http://127.0.0.1:$(freeport app);
}
N
}
