# Cacti as Debian packages it, on PHP-FPM, its own SQL; 400 devices, 20,000 graphs and data sources, 60,000 values of SNMP.
# Nothing is polled and no graph is drawn: the pages by which they are managed.
app_install() {
  apt mariadb-server nginx php-fpm php-mysql php-mbstring php-cli php-xml php-gd php-gmp php-intl
  # The package's own questions (which database, which web server) are not asked: its files alone are taken.
  [[ -d $dir/deb ]] || (cd "$dir" && apt-get download -qq cacti 2>/dev/null && dpkg -x cacti_*.deb deb)
}

app_up() {
  local www=$dir/www
  if [[ ! -e $dir/seeded ]]; then
    rm -rf "$www"
    cp -a "$dir/deb/usr/share/cacti/site" "$www"
    rm -f "$www/include/config.php" "$www/cache" "$www/log" "$www/rra" "$www/resource"
    cp -a "$dir/deb/usr/share/cacti/resource" "$www/resource"
    # Links to packages that are not installed, scripts and style sheets: Cacti would write down that it misses them.
    find "$www" -xtype l | while read -r link; do rm "$link" && mkdir -p "$(dirname "$link")" && : >"$link"; done
    mkdir -m 1777 -p "$www/cache"/{boost,mibcache,realtime,spikekill} "$www/log" "$www/rra"
    cat >"$www/include/config.php" <<P
<?php
\$database_type = 'mysql'; \$database_default = 'cacti'; \$database_hostname = '127.0.0.1'; \$database_username = 'cacti';
\$database_password = 'field'; \$database_port = '$(freeport mysql)'; \$database_retries = 5; \$database_ssl = false;
\$database_persist = false; \$poller_id = 1; \$url_path = '/'; \$cacti_session_name = 'Cacti'; \$disable_log_rotation = false;
P
    sql cacti <"$dir/deb/usr/share/cacti/conf_templates/cacti.sql"
    sql cacti <"$here/apps/cacti.sql"
    sql cacti -e "REPLACE INTO settings VALUES ('path_cactilog', '$www/log/cacti.log'), ('path_php_binary', '/usr/bin/php')"
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
php_admin_value[memory_limit] = 400M
php_admin_value[date.timezone] = UTC
php_admin_value[error_log] = $dir/php.log
F
  [[ $(id -u) != 0 ]] || printf 'user = www-data\ngroup = www-data\n' >>"$dir/fpm.conf"
  background app "$(ls /usr/sbin/php-fpm8* | head -1)" -F -y "$dir/fpm.conf"
}

app_server() {
  cat <<N
root $dir/www;
index index.php;
location ~ \\.php\$ { include /etc/nginx/fastcgi_params; fastcgi_param HTTP_HOST \$http_host; fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name; fastcgi_pass 127.0.0.1:$(freeport app); }
N
}
