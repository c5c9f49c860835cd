# Archives of mailing lists: HyperKitty with Postorius (mailman-web, Django, PyMySQL, gunicorn) from PyPI, its settings as it ships but for the database; 4 lists, 4,000 threads, 30,000 mails, 2,000 people, 6,000 votes. Mailman's core is not there, nor a search index.
app_install() {
  apt mariadb-server nginx
  [[ -x $dir/venv/bin/gunicorn ]] || {
    python3 -m venv "$dir/venv"
    "$dir/venv/bin/pip" install -q --disable-pip-version-check 'mailman-web==0.0.9' 'HyperKitty==1.3.12' 'Django==4.2.30' gunicorn PyMySQL
  }
}

app_up() {
  export DJANGO_SETTINGS_MODULE=settings PYTHONPATH=$dir/site PYTHONDONTWRITEBYTECODE=1
  if [[ ! -e $dir/seeded ]]; then
    mkdir -p "$dir/site/logs"
    cat >"$dir/site/settings.py" <<P
import pymysql
pymysql.install_as_MySQLdb()
from mailman_web.settings.base import *
from mailman_web.settings.mailman import *
SECRET_KEY = 'field-field-field'
ALLOWED_HOSTS = ['*']
STATIC_ROOT = '$dir/site/static'
LOGGING['handlers']['file']['filename'] = '$dir/site/logs/mailmanweb.log'
COMPRESS_ENABLED, COMPRESS_OFFLINE, COMPRESS_PRECOMPILERS = False, False, ()
HAYSTACK_CONNECTIONS['default']['PATH'] = '$dir/site/fulltext_index'
DATABASES = {'default': {'ENGINE': 'django.db.backends.mysql', 'NAME': 'hyperkitty', 'USER': 'hyperkitty', 'PASSWORD': 'field',
    'HOST': '127.0.0.1', 'PORT': '$(freeport mysql)', 'OPTIONS': {'charset': 'utf8mb4'}}}
P
    sql "" -e "DROP DATABASE hyperkitty; CREATE DATABASE hyperkitty CHARACTER SET utf8mb4"
    { "$dir/venv/bin/mailman-web" migrate && "$dir/venv/bin/mailman-web" collectstatic --noinput; } >"$dir/seed.out" 2>&1
    sql hyperkitty <"$here/apps/hyperkitty.sql" >>"$dir/seed.out"
    touch "$dir/seeded"
  fi
  background app "$dir/venv/bin/gunicorn" --no-control-socket -w 2 -k gthread --threads 4 -b "127.0.0.1:$(freeport app)" mailman_web.wsgi:application
}

app_server() {
  cat <<N
location /static/ { alias $dir/site/static/; }
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; proxy_set_header X-Forwarded-For \$remote_addr; }
N
}
