# MediaWiki as Debian packages it, on PHP-FPM; 1,200 pages with links and categories.
app_install() { apt mariadb-server nginx php-fpm php-mysql php-xml php-mbstring php-intl mediawiki; }

fpm() { ls /usr/sbin/php-fpm8* | head -1; }

app_up() {
  local www=$dir/www
  if [[ ! -d $www ]]; then
    cp -aL /usr/share/mediawiki "$www" 2>/dev/null || true
    rm -f "$www/LocalSettings.php"
    mkdir -p "$dir/cache"
    (cd "$www" && php maintenance/install.php --dbserver "127.0.0.1:$(freeport mysql)" --dbname "$app" --dbuser "$app" \
      --dbpass field --server "http://127.0.0.1:$(freeport web)" --scriptpath "" --pass fieldfieldfield \
      --skins Vector Field Admin) >"$dir/install.out" 2>&1
    echo '$wgArticlePath = "/wiki/$1"; $wgJobRunRate = 0; $wgEnableUploads = false; $wgCacheDirectory = "'"$dir"'/cache";' \
      >>"$www/LocalSettings.php"
    python3 "$here/apps/mediawiki.py" >"$dir/pages.xml"
    (cd "$www" && php maintenance/importDump.php --no-updates --quiet "$dir/pages.xml" &&
      php maintenance/rebuildrecentchanges.php && php maintenance/refreshLinks.php && php maintenance/initSiteStats.php --update) \
      >"$dir/seed.out" 2>&1
    [[ $(id -u) != 0 ]] || chown -R www-data "$www/images" "$dir/cache"
  fi
  cat >"$dir/fpm.conf" <<F
[global]
error_log = $dir/fpm.log
[mediawiki]
listen = 127.0.0.1:$(freeport app)
pm = static
pm.max_children = 4
F
  [[ $(id -u) != 0 ]] || printf 'user = www-data\ngroup = www-data\n' >>"$dir/fpm.conf"
  background app "$(fpm)" -F -y "$dir/fpm.conf"
}

app_server() {
  cat <<N
root $dir/www;
location = / { return 302 /wiki/Main_Page; }
location /wiki/ { include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME $dir/www/index.php; fastcgi_pass 127.0.0.1:$(freeport app); }
location ~ ^/(index|api|load|rest)\\.php { include /etc/nginx/fastcgi_params; fastcgi_param SCRIPT_FILENAME $dir/www/\$1.php; fastcgi_pass 127.0.0.1:$(freeport app); }
N
}
