# MLflow 3 as its own `mlflow server` starts it (Python, uvicorn, Flask below it, SQLAlchemy with a pool, PyMySQL), from PyPI, on MariaDB:
# 30 experiments of 20,000 runs with 100,000 parameters, 80,000 tags and 400,000 values of metrics, 600 models of 6,000 versions.
app_install() {
  apt mariadb-server nginx
  [[ -x $dir/venv/bin/mlflow ]] || {
    python3 -m venv "$dir/venv"
    "$dir/venv/bin/pip" install -q --disable-pip-version-check 'mlflow==3.17.2' PyMySQL
  }
}

app_up() {
  local to=mysql+pymysql://mlflow:field@127.0.0.1:$(freeport mysql)/mlflow
  if [[ ! -e $dir/seeded ]]; then
    "$dir/venv/bin/mlflow" db upgrade "$to" >"$dir/seed.out" 2>&1
    sql mlflow <"$here/apps/mlflow.sql"
    touch "$dir/seeded"
  fi
  mkdir -p "$dir/artifacts"
  background app env MLFLOW_DISABLE_TELEMETRY=true MLFLOW_ALEMBIC_MIGRATION_DISABLED=true "$dir/venv/bin/mlflow" server --backend-store-uri "$to" \
    --artifacts-destination "$dir/artifacts" --host 127.0.0.1 --port "$(freeport app)" --workers 2
}

app_server() {
  cat <<N
location / { proxy_pass http://127.0.0.1:$(freeport app); proxy_set_header Host 127.0.0.1:$(freeport app); }
N
}
