# Request Tracker 5 as Debian packages it: Perl, FastCGI by a Unix socket, its own processes; 6,000 tickets, 30,000 transactions, 24,000 role groups.
app_install() {
  apt mariadb-server nginx debconf-utils
  echo 'request-tracker5 request-tracker5/dbconfig-install boolean false' | debconf-set-selections
  apt request-tracker5 rt5-db-mysql rt5-fcgi libfcgi-procmanager-perl
}

app_up() {
  export RT_SITE_CONFIG=$dir/RT_SiteConfig.pm RT_SITE_CONFIG_DIR=$dir/site.d
  mkdir -p "$dir/site.d" "$dir/run"
  cat >"$RT_SITE_CONFIG" <<P
Set(\$rtname, 'field');
Set(\$DatabaseType, 'mysql'); Set(\$DatabaseHost, 'localhost'); Set(\$DatabaseName, 'rt'); Set(\$DatabaseUser, 'rt'); Set(\$DatabasePassword, 'field');
Set(%DatabaseExtraDSN, mysql_socket => '$sock');
Set(\$WebDomain, '127.0.0.1'); Set(\$WebPort, $(freeport web)); Set(\$RestrictReferrer, 0);
Set(\$MailCommand, 'sendmailpipe'); Set(\$SendmailPath, '$dir/sendmail');
Set(\$LogToSyslog, undef); Set(\$LogToSTDERR, 'error'); Set(\$Timezone, 'UTC');
\$RT::MasonDataDir = '$dir/run/mason';
1;
P
  printf '#!/bin/sh\nexec cat >/dev/null\n' >"$dir/sendmail"
  chmod 755 "$dir/sendmail"
  local as=()
  if [[ $(id -u) == 0 ]]; then
    chown -R www-data: "$dir/run"
    as=(setpriv --reuid=www-data --regid=www-data --clear-groups)
  fi
  cd "$dir" # its processes call themselves otherwise
  if [[ ! -e $dir/seeded ]]; then
    sql "" -e "DROP DATABASE rt; CREATE DATABASE rt CHARACTER SET utf8mb4"
    { rt-setup-database-5 --action init --skip-create </dev/null && perl "$here/apps/rt/seed.pl" && sql rt <"$here/apps/rt.sql"; } >"$dir/seed.out" 2>&1
    touch "$dir/seeded"
  fi
  rm -f "$dir/run/sock"
  background app "${as[@]}" /usr/share/request-tracker5/libexec/rt-server.fcgi --listen "$dir/run/sock" --nproc 3
  waitfor "Request Tracker" test -S "$dir/run/sock"
}

app_server() {
  cat <<N
location / {
 include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_NAME ""; fastcgi_param PATH_INFO \$uri; fastcgi_param HTTP_HOST \$http_host;
 fastcgi_pass unix:$dir/run/sock;
}
location /static/ { alias /usr/share/request-tracker5/static/; }
N
}
