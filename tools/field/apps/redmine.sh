# Redmine as Debian packages it, on Puma (Rails 6.1); 8 projects, 20,000 issues, 60,000 journals.
app_install() {
  apt mariadb-server nginx puma ruby-mysql2 ruby-bundler
  # The package's own questions (which database, which web server) are not asked: its files alone are taken.
  local needs
  mapfile -t needs < <(apt-get install -s --no-install-recommends redmine redmine-mysql | awk '/^Inst/ {print $2}' |
    grep -vE '^(redmine|dbconfig|mariadb|default-mysql)')
  apt "${needs[@]}"
  [[ -d $dir/www ]] && return 0
  (cd "$dir" && apt-get download -qq redmine 2>/dev/null && dpkg -x redmine_*.deb deb && rm redmine_*.deb)
  mv "$dir/deb/usr/share/redmine" "$dir/www"
  cd "$dir/www"
  rm -f instances Gemfile.lock config/database.yml
  sed -i "s|/usr/share/redmine|$dir/www|" Gemfile
  echo "gem 'puma'" >Gemfile.local; grep -q Gemfile.local Gemfile || cat Gemfile.local >>Gemfile
  mkdir -p instances/default/{tmp,log,config,files,public/plugin_assets} tmp
}

rails() { (cd "$dir/www" && RAILS_ENV=production BUNDLE_APP_CONFIG="$dir/bundle" BUNDLE_WITHOUT=development:test:rmagick REDMINE_LANG=en bundle exec "$@"); }

app_up() {
  ln -sf ../instances/default/config/database.yml "$dir/www/config/database.yml"
  cat >"$dir/www/instances/default/config/database.yml" <<Y
production:
  adapter: mysql2
  host: 127.0.0.1
  port: $(freeport mysql)
  database: $app
  username: $app
  password: field
  pool: 5
  encoding: utf8mb4
Y
  if [[ ! -e $dir/seeded ]]; then
    head -c 40 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$dir/www/instances/default/config/secret_key.txt"
    { rails rake db:migrate && rails rake redmine:load_default_data; } >"$dir/seed.out" 2>&1
    sql "$app" <"$here/apps/redmine.sql"
    touch "$dir/seeded"
  fi
  cd "$dir/www"
  RAILS_ENV=production BUNDLE_APP_CONFIG="$dir/bundle" BUNDLE_WITHOUT=development:test:rmagick \
    background app bundle exec puma -b "tcp://127.0.0.1:$(freeport app)" -t 5:5
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host \$http_host; }
N
}
