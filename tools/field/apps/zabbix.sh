# The frontend of Zabbix as Debian packages it, on PHP-FPM; 600 hosts, 24,000 items, 240,000 values, 60,000 events. No server polls.
app_install() {
  apt mariadb-server nginx php-fpm php-mysql php-xml php-mbstring php-gd php-bcmath zabbix-frontend-php
  [[ -d $dir/server ]] || (cd "$dir" && apt-get download -qq zabbix-server-mysql 2>/dev/null && dpkg -x zabbix-server-mysql_*.deb server)
}

app_up() {
  local www=$dir/www
  if [[ ! -e $dir/seeded ]]; then
    rm -rf "$www"
    cp -aL /usr/share/zabbix "$www" 2>/dev/null || true
    mkdir -p "$www/conf"
    sed -i "s#'/etc/zabbix/zabbix.conf.php'#'$www/conf/zabbix.conf.php'#" "$www/include/classes/core/CConfigFile.php"
    cat >"$www/conf/zabbix.conf.php" <<P
<?php
\$DB['TYPE'] = 'MYSQL'; \$DB['SERVER'] = '127.0.0.1'; \$DB['PORT'] = '$(freeport mysql)'; \$DB['DATABASE'] = 'zabbix';
\$DB['USER'] = 'zabbix'; \$DB['PASSWORD'] = 'field'; \$DB['SCHEMA'] = ''; \$DB['ENCRYPTION'] = false; \$DB['KEY_FILE'] = '';
\$DB['CERT_FILE'] = ''; \$DB['CA_FILE'] = ''; \$DB['VERIFY_HOST'] = false; \$DB['CIPHER_LIST'] = ''; \$DB['VAULT_URL'] = '';
\$DB['VAULT_DB_PATH'] = ''; \$DB['VAULT_TOKEN'] = ''; \$DB['DOUBLE_IEEE754'] = true;
\$ZBX_SERVER_NAME = 'field'; \$IMAGE_FORMAT_DEFAULT = IMAGE_FORMAT_PNG;
P
    sql "" -e "ALTER DATABASE zabbix CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
    # Of the data all but the templates, of which there are 100,000 rows.
    { zcat "$dir/server/usr/share/zabbix-server-mysql/schema.sql.gz"; zcat "$dir/server/usr/share/zabbix-server-mysql/data.sql.gz" | python3 -c '
import re, sys
keep = "role role_rule users usrgrp users_groups hstgrp config config_autoreg_tls media_type regexps expressions graph_theme globalmacro".split()
on = False
for line in sys.stdin:
    m = re.match(r"INSERT INTO `(\w+)`", line)
    on = m.group(1) in keep if m else on
    if on: sys.stdout.write(line)'; echo 'COMMIT;'; } | sql zabbix
    sql zabbix <"$here/apps/zabbix.sql"
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
php_value[max_execution_time] = 300
php_value[memory_limit] = 256M
php_value[post_max_size] = 16M
php_value[max_input_time] = 300
php_value[date.timezone] = UTC
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
