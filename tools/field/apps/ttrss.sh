# Tiny Tiny RSS as Debian packages it, on PHP-FPM; 40 readers of 60 feeds, 40,000 articles, 5,000 of them with each reader.
app_install() {
  apt mariadb-server nginx php-fpm php-mysql php-xml php-mbstring php-intl
  [[ -d $dir/x ]] && return 0
  (cd "$dir" && apt-get download -qq tt-rss php-psr-log php-php-gettext 2>/dev/null && for p in *.deb; do dpkg -x "$p" x; done)
}

app_up() {
  local www=$dir/www
  if [[ ! -e $dir/seeded ]]; then
    rm -rf "$www"
    cp -a "$dir/x/usr/share/tt-rss/www" "$www"
    rm -rf "$www/lib/gettext" "$www/vendor/Psr" "$www/feed-icons" "$www/config.php"
    cp -a "$dir/x/usr/share/php/php-php-gettext" "$www/lib/gettext"
    cp -a "$dir/x/usr/share/php/Psr" "$www/vendor/Psr"
    mkdir -p "$www/feed-icons" "$dir/lock" "$dir/cache/images" "$dir/cache/upload" "$dir/cache/export" "$dir/cache/simplepie" "$dir/cache/htmlpurifier"
    {
      printf '<?php\n$dbtype = "mysql"; $dbserver = "127.0.0.1"; $dbport = "%s"; $dbuser = $dbname = "ttrss"; $dbpass = "field";\n' "$(freeport mysql)"
      sed -e '1d' -e "/database.php/d" -e "s#%SELF_URL_PATH#http://127.0.0.1:$(freeport web)/#" \
        -e "s#/var/lib/tt-rss#$dir/lock#" -e "s#/var/cache/tt-rss#$dir/cache#" "$dir/x/etc/tt-rss/config.php"
    } >"$www/config.php"
    [[ $(id -u) != 0 ]] || chown -R www-data "$www/feed-icons" "$dir/lock" "$dir/cache"
    sql ttrss <"$dir/x/usr/share/tt-rss/schema/ttrss_schema_mysql.sql"
    sql ttrss <"$here/apps/ttrss.sql"
    touch "$dir/seeded"
  fi
  cat >"$dir/fpm.conf" <<F
[global]
error_log = $dir/fpm.log
[www]
listen = 127.0.0.1:$(freeport app)
pm = dynamic
pm.max_children = 5
pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 3
php_admin_flag[log_errors] = off
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
