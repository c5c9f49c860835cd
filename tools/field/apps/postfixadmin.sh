# PostfixAdmin as Debian packages it, on PHP-FPM; 300 domains, 40,000 mailboxes, 70,000 aliases, 150,000 lines of its log, 40 administrators.
app_install() {
  apt mariadb-server nginx php-fpm php-mysql php-mbstring php-cli
  # The package's own questions (which database, which web server) are not asked: its files alone are taken.
  [[ -d $dir/deb ]] || (cd "$dir" && apt-get download -qq postfixadmin 2>/dev/null && dpkg -x postfixadmin_*.deb deb)
}

app_up() {
  local www=$dir/www
  if [[ ! -e $dir/seeded ]]; then
    rm -rf "$www"
    cp -a "$dir/deb/usr/share/postfixadmin" "$www"
    rm -f "$www"/config.inc.php "$www"/config.local.php "$www/templates_c" "$www/public/setup.php"
    mkdir -m 1777 "$www/templates_c"
    cp "$dir/deb/etc/postfixadmin/config.inc.php" "$www/config.inc.php"
    cat >"$www/dbconfig.inc.php" <<P
<?php
\$dbtype = 'mysqli'; \$dbserver = '127.0.0.1'; \$dbuser = 'postfixadmin'; \$dbpass = 'field'; \$dbname = 'postfixadmin';
P
    cat >"$www/config.local.php" <<P
<?php
\$CONF['database_port'] = '$(freeport mysql)'; \$CONF['emailcheck_resolve_domain'] = 'NO'; \$CONF['quota'] = 'YES';
\$CONF['vacation'] = 'YES'; \$CONF['vacation_domain'] = 'autoreply.field.example';
P
    (cd "$www/public" && php upgrade.php) >"$dir/seed.out" 2>&1
    sql postfixadmin <"$here/apps/postfixadmin.sql"
    touch "$dir/seeded"
  fi
  cat >"$dir/fpm.conf" <<F
[global]
error_log = $dir/fpm.log
[www]
listen = 127.0.0.1:$(freeport app)
pm = dynamic
pm.max_children = 6
pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 3
F
  [[ $(id -u) != 0 ]] || printf 'user = www-data\ngroup = www-data\n' >>"$dir/fpm.conf"
  background app "$(ls /usr/sbin/php-fpm8* | head -1)" -F -y "$dir/fpm.conf"
}

app_server() {
  cat <<N
root $dir/www/public;
index index.php;
location ~ \\.php\$ { include /etc/nginx/fastcgi_params; fastcgi_param HTTP_HOST \$http_host; fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name; fastcgi_pass 127.0.0.1:$(freeport app); }
N
}
