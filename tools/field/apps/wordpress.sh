# WordPress as Debian packages it, on PHP-FPM, without plugins; 20,000 posts, 60,000 comments.
app_install() { apt mariadb-server nginx php-fpm php-mysql php-xml php-mbstring php-gd wordpress wordpress-theme-twentytwentythree; }

fpm() { ls /usr/sbin/php-fpm8* | head -1; }

app_up() {
  local www=$dir/www
  if [[ ! -e $dir/seeded ]]; then
    rm -rf "$www"
    cp -aL /usr/share/wordpress "$www" 2>/dev/null || true
    mkdir -p "$www/wp-content/uploads"
    cat >"$www/wp-config.php" <<P
<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'wordpress'); define('DB_PASSWORD', 'field');
define('DB_HOST', '127.0.0.1:$(freeport mysql)'); define('DB_CHARSET', 'utf8mb4'); define('DB_COLLATE', '');
define('AUTH_KEY', 'field'); define('SECURE_AUTH_KEY', 'field'); define('LOGGED_IN_KEY', 'field'); define('NONCE_KEY', 'field');
define('WP_AUTO_UPDATE_CORE', false); define('WP_HTTP_BLOCK_EXTERNAL', true);
\$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
P
    cat >"$dir/install.php" <<P
<?php
define('WP_INSTALLING', true);
\$_SERVER['HTTP_HOST'] = '127.0.0.1:$(freeport web)'; \$_SERVER['REQUEST_URI'] = '/';
require '$www/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';
wp_install('Field', 'field', 'field@example.com', true, '', 'fieldfield');
update_option('siteurl', 'http://127.0.0.1:$(freeport web)'); update_option('home', 'http://127.0.0.1:$(freeport web)');
update_option('permalink_structure', '/%postname%/');
update_option('template', 'twentytwentythree'); update_option('stylesheet', 'twentytwentythree');
P
    php "$dir/install.php" >"$dir/install.out" 2>&1
    sql wordpress <"$here/apps/wordpress.sql"
    [[ $(id -u) != 0 ]] || chown -R www-data "$www/wp-content"
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
F
  [[ $(id -u) != 0 ]] || printf 'user = www-data\ngroup = www-data\n' >>"$dir/fpm.conf"
  background app "$(fpm)" -F -y "$dir/fpm.conf"
}

app_server() {
  cat <<N
root $dir/www;
index index.php;
location / { try_files \$uri \$uri/ /index.php?\$args; }
location ~ \\.php\$ { include /etc/nginx/fastcgi_params; fastcgi_param HTTP_HOST \$http_host; fastcgi_param SCRIPT_FILENAME \$document_root\$fastcgi_script_name; fastcgi_pass 127.0.0.1:$(freeport app); }
N
}
