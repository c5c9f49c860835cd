# A shop: django-oscar on Django, PyMySQL and gunicorn, all from PyPI; 3,000 products.
app_install() {
  apt mariadb-server nginx
  [[ -x $dir/venv/bin/gunicorn ]] || {
    python3 -m venv "$dir/venv"
    "$dir/venv/bin/pip" install -q --disable-pip-version-check 'django-oscar==4.2.1' gunicorn PyMySQL cryptography sorl-thumbnail
  }
}

app_up() {
  export DJANGO_SETTINGS_MODULE=settings PYTHONPATH="$here/apps/oscar" PYTHONDONTWRITEBYTECODE=1 FIELD_APP="$dir/www" FIELD_MYSQL="$(freeport mysql)"
  mkdir -p "$dir/www"
  if [[ ! -e $dir/seeded ]]; then
    { "$dir/venv/bin/django-admin" migrate -v 0 && "$dir/venv/bin/python" "$here/apps/oscar/seed.py" &&
      "$dir/venv/bin/django-admin" collectstatic -v 0 --no-input; } >"$dir/seed.out" 2>&1
    touch "$dir/seeded"
  fi
  background app "$dir/venv/bin/gunicorn" -w 3 -b "127.0.0.1:$(freeport app)" wsgi
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; }
N
}
