CREATE TABLE advice (
  id         INTEGER PRIMARY KEY,
  host       TEXT    NOT NULL,
  check_id   TEXT    NOT NULL,
  area       TEXT    NOT NULL,
  title      TEXT    NOT NULL,
  variable   TEXT    NOT NULL,
  value      TEXT    NOT NULL,
  proposed   TEXT    NOT NULL,
  formula    TEXT    NOT NULL,
  measured   TEXT    NOT NULL,
  threshold  TEXT    NOT NULL,
  window     TEXT    NOT NULL,
  confidence TEXT    NOT NULL,
  holds      INTEGER NOT NULL,
  of_signals INTEGER NOT NULL,
  conf_note  TEXT    NOT NULL,
  set_global TEXT    NOT NULL,
  conf_line  TEXT    NOT NULL,
  risk       TEXT    NOT NULL,
  gain       TEXT    NOT NULL,
  price      TEXT    NOT NULL,
  note       TEXT    NOT NULL
);
CREATE TABLE caller (
  id             INTEGER PRIMARY KEY,
  host           TEXT    NOT NULL,
  query_id       TEXT    NOT NULL,
  method         TEXT    NOT NULL,
  route          TEXT    NOT NULL,
  with_endpoints TEXT    NOT NULL,
  class          TEXT    NOT NULL,
  source         TEXT    NOT NULL,
  per_request    REAL,
  least          REAL,
  most           REAL,
  requests       INTEGER NOT NULL,
  calls          REAL,
  share          REAL,
  likelihood     REAL,
  decisive       REAL,
  loop           INTEGER NOT NULL,
  list_id        TEXT    NOT NULL,
  slope          REAL,
  correlation    REAL,
  note           TEXT    NOT NULL
);
CREATE TABLE change (
  id       INTEGER PRIMARY KEY,
  host     TEXT    NOT NULL,
  object   TEXT    NOT NULL,
  name     TEXT    NOT NULL,
  before   TEXT    NOT NULL,
  during   TEXT    NOT NULL,
  restored INTEGER NOT NULL,
  note     TEXT    NOT NULL
);
CREATE TABLE checksum (
  id         INTEGER PRIMARY KEY,
  table_name TEXT    NOT NULL,
  last_id    INTEGER NOT NULL,
  row_count  INTEGER NOT NULL,
  sum        INTEGER NOT NULL
);
CREATE TABLE chunk (
  id      INTEGER PRIMARY KEY,
  host    TEXT    NOT NULL,
  source  TEXT    NOT NULL,
  from_ns INTEGER NOT NULL,
  to_ns   INTEGER NOT NULL,
  ticks   INTEGER NOT NULL,
  series  INTEGER NOT NULL,
  data    BLOB    NOT NULL
);
CREATE TABLE command (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  args             TEXT    NOT NULL,
  exit_code        INTEGER NOT NULL,
  signal           TEXT    NOT NULL,
  wall_ns          INTEGER NOT NULL,
  user_ns          INTEGER NOT NULL,
  system_ns        INTEGER NOT NULL,
  max_rss_bytes    INTEGER NOT NULL,
  voluntary_switch INTEGER NOT NULL,
  forced_switch    INTEGER NOT NULL,
  output_truncated INTEGER NOT NULL
);
CREATE TABLE config (
  id     INTEGER PRIMARY KEY,
  host   TEXT    NOT NULL,
  kind   TEXT    NOT NULL,
  name   TEXT    NOT NULL,
  mode   INTEGER NOT NULL,
  uid    INTEGER NOT NULL,
  gid    INTEGER NOT NULL,
  masked INTEGER NOT NULL,
  note   TEXT    NOT NULL
);
CREATE TABLE deadlock (
  id         INTEGER PRIMARY KEY,
  host       TEXT    NOT NULL,
  at_ns      INTEGER NOT NULL,
  table_name TEXT    NOT NULL,
  statements TEXT    NOT NULL,
  indexes    TEXT    NOT NULL,
  count      INTEGER NOT NULL
);
CREATE TABLE diagnosis (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  verdict TEXT    NOT NULL,
  rules   INTEGER NOT NULL
);
CREATE TABLE endpoint (
  id             INTEGER PRIMARY KEY,
  host           TEXT    NOT NULL,
  method         TEXT    NOT NULL,
  route          TEXT    NOT NULL,
  count          INTEGER NOT NULL,
  bytes          INTEGER NOT NULL,
  total_ns       INTEGER NOT NULL,
  first_ns       INTEGER NOT NULL,
  last_ns        INTEGER NOT NULL,
  codes          TEXT    NOT NULL,
  seconds        TEXT    NOT NULL,
  latency_p50_ns INTEGER NOT NULL,
  latency_p99_ns INTEGER NOT NULL,
  latency_max_ns INTEGER NOT NULL,
  latency        BLOB
, squares        REAL             DEFAULT 0, min_bytes      INTEGER NOT NULL DEFAULT 0, max_bytes      INTEGER NOT NULL DEFAULT 0, request_bytes  INTEGER NOT NULL DEFAULT 0, upstream_ns    INTEGER NOT NULL DEFAULT 0, upstream_count INTEGER NOT NULL DEFAULT 0, bots           INTEGER NOT NULL DEFAULT 0, connects          INTEGER NOT NULL DEFAULT 0, connect_count     INTEGER NOT NULL DEFAULT 0, max_request_bytes INTEGER NOT NULL DEFAULT 0, bots_passed       INTEGER NOT NULL DEFAULT 0, bots_upstream_ns  INTEGER NOT NULL DEFAULT 0, paths             INTEGER NOT NULL DEFAULT 0, varied            INTEGER NOT NULL DEFAULT 0, variants          INTEGER NOT NULL DEFAULT 0, by_second BLOB);
CREATE TABLE event (
  id    INTEGER PRIMARY KEY,
  host  TEXT    NOT NULL,
  at_ns INTEGER NOT NULL,
  kind  TEXT    NOT NULL,
  text  TEXT    NOT NULL
);
CREATE TABLE evidence (
  id      INTEGER PRIMARY KEY,
  finding INTEGER NOT NULL REFERENCES finding (id) ON DELETE CASCADE,
  source  TEXT    NOT NULL,
  value   TEXT    NOT NULL,
  number  REAL,
  strong  INTEGER NOT NULL,
  series  TEXT    NOT NULL,
  from_ns INTEGER NOT NULL,
  to_ns   INTEGER NOT NULL
);
CREATE TABLE finding (
  id              INTEGER PRIMARY KEY,
  finding_id      TEXT    NOT NULL,
  object_kind     TEXT    NOT NULL,
  object_name     TEXT    NOT NULL,
  title           TEXT    NOT NULL,
  clause          TEXT    NOT NULL,
  severity        TEXT    NOT NULL,
  confidence      TEXT    NOT NULL,
  signals_hold    INTEGER NOT NULL,
  signals_of      INTEGER NOT NULL,
  confidence_note TEXT    NOT NULL,
  impact_share    REAL,
  impact_of       TEXT    NOT NULL,
  impact_estimate INTEGER NOT NULL,
  impact_shared   TEXT    NOT NULL,
  cause           TEXT    NOT NULL,
  fixes           TEXT    NOT NULL,
  expect          TEXT    NOT NULL,
  verify          TEXT    NOT NULL,
  explains        TEXT    NOT NULL,
  from_ns         INTEGER NOT NULL,
  to_ns           INTEGER NOT NULL
);
CREATE TABLE gap (
  id      INTEGER PRIMARY KEY,
  host    TEXT    NOT NULL,
  source  TEXT    NOT NULL,
  from_ns INTEGER NOT NULL,
  to_ns   INTEGER NOT NULL,
  reason  TEXT    NOT NULL
);
CREATE TABLE host (
  id              INTEGER PRIMARY KEY,
  name            TEXT    NOT NULL,
  cores           INTEGER NOT NULL,
  memory_bytes    INTEGER NOT NULL,
  os              TEXT    NOT NULL,
  kernel          TEXT    NOT NULL,
  arch            TEXT    NOT NULL,
  boot_id         TEXT    NOT NULL,
  clock_offset_ns INTEGER NOT NULL,
  clock_error_ns  INTEGER NOT NULL
, clock_note TEXT NOT NULL DEFAULT '');
CREATE TABLE load (
  id             INTEGER PRIMARY KEY CHECK (id = 1),
  engine         TEXT    NOT NULL,
  engine_why     TEXT    NOT NULL,
  model          TEXT    NOT NULL,
  targets        TEXT    NOT NULL,
  max_in_flight  INTEGER NOT NULL,
  peak_in_flight INTEGER NOT NULL,
  cpu_ns         INTEGER NOT NULL,
  wall_ns        INTEGER NOT NULL,
  peak_cores     REAL,
  cores          INTEGER NOT NULL,
  stopped        TEXT    NOT NULL
, pacing        TEXT    NOT NULL DEFAULT '', shards        INTEGER NOT NULL DEFAULT 0, connections   INTEGER NOT NULL DEFAULT 0, resent        INTEGER NOT NULL DEFAULT 0, redirected    INTEGER NOT NULL DEFAULT 0, stopped_at_ns INTEGER NOT NULL DEFAULT 0);
CREATE TABLE load_second (
  id             INTEGER PRIMARY KEY,
  host           TEXT    NOT NULL,
  second         INTEGER NOT NULL,
  step           INTEGER NOT NULL,
  target         TEXT    NOT NULL,
  asked          INTEGER NOT NULL,
  bytes_in       INTEGER NOT NULL,
  bytes_out      INTEGER NOT NULL,
  codes          TEXT    NOT NULL,
  errors         TEXT    NOT NULL,
  latency_p50_ns INTEGER NOT NULL,
  latency_p99_ns INTEGER NOT NULL,
  latency_max_ns INTEGER NOT NULL,
  latency        BLOB,
  send_delay     BLOB,
  service        BLOB, expected INTEGER NOT NULL DEFAULT 0,
  UNIQUE (host, second, step, target)
);
CREATE TABLE lock_wait (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  table_name  TEXT    NOT NULL,
  index_name  TEXT    NOT NULL,
  waiting     TEXT    NOT NULL,
  waiting_id  TEXT    NOT NULL,
  blocking    TEXT    NOT NULL,
  blocking_id TEXT    NOT NULL,
  samples     INTEGER NOT NULL,
  waiters     INTEGER NOT NULL,
  longest_ns  INTEGER NOT NULL,
  oldest_ns   INTEGER NOT NULL,
  first_ns    INTEGER NOT NULL,
  last_ns     INTEGER NOT NULL
);
CREATE TABLE log_window (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  kind        TEXT    NOT NULL,
  path        TEXT    NOT NULL,
  format      TEXT    NOT NULL,
  device      INTEGER NOT NULL,
  inode       INTEGER NOT NULL,
  from_offset INTEGER NOT NULL,
  to_offset   INTEGER NOT NULL,
  files       INTEGER NOT NULL,
  lines       INTEGER NOT NULL,
  records     INTEGER NOT NULL,
  continued   INTEGER NOT NULL,
  blank       INTEGER NOT NULL,
  dropped     INTEGER NOT NULL,
  note        TEXT    NOT NULL
);
CREATE TABLE member (
  id          INTEGER PRIMARY KEY,
  member_id   TEXT    NOT NULL,
  role        TEXT    NOT NULL,
  program     TEXT    NOT NULL,
  host        TEXT    NOT NULL,
  unit        TEXT    NOT NULL,
  container   TEXT    NOT NULL,
  cgroup      TEXT    NOT NULL,
  processes   TEXT    NOT NULL,
  listeners   TEXT    NOT NULL,
  language    TEXT    NOT NULL,
  framework   TEXT    NOT NULL,
  version     TEXT    NOT NULL,
  workers     INTEGER NOT NULL,
  threads     INTEGER NOT NULL,
  logs        TEXT    NOT NULL,
  configs     TEXT    NOT NULL,
  max_files     INTEGER NOT NULL,
  max_processes INTEGER NOT NULL,
  max_memory    INTEGER NOT NULL,
  max_cores     REAL,
  found       TEXT    NOT NULL,
  sure        TEXT    NOT NULL,
  others      INTEGER NOT NULL
, blocks TEXT NOT NULL DEFAULT 'null', cpus TEXT NOT NULL DEFAULT '');
CREATE TABLE member_edge (
  id          INTEGER PRIMARY KEY,
  from_member TEXT    NOT NULL,
  to_member   TEXT    NOT NULL,
  network     TEXT    NOT NULL,
  address     TEXT    NOT NULL,
  private     INTEGER NOT NULL,
  protocol    TEXT    NOT NULL,
  seen        INTEGER NOT NULL,
  weak        INTEGER NOT NULL,
  found       TEXT    NOT NULL
);
CREATE TABLE message (
  id       INTEGER PRIMARY KEY,
  host     TEXT    NOT NULL,
  path     TEXT    NOT NULL,
  pattern  TEXT    NOT NULL,
  level    TEXT    NOT NULL,
  code     TEXT    NOT NULL,
  sql      INTEGER NOT NULL,
  count    INTEGER NOT NULL,
  bytes    INTEGER NOT NULL,
  first_ns INTEGER NOT NULL,
  last_ns  INTEGER NOT NULL,
  seconds  TEXT    NOT NULL
, kind TEXT NOT NULL DEFAULT '');
CREATE TABLE phase (
  id      INTEGER PRIMARY KEY,
  kind    TEXT    NOT NULL,
  from_ns INTEGER NOT NULL,
  to_ns   INTEGER NOT NULL,
  why     TEXT    NOT NULL
);
CREATE TABLE plan (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  query_id    TEXT    NOT NULL,
  schema_name TEXT    NOT NULL,
  format      TEXT    NOT NULL,
  note        TEXT    NOT NULL
);
CREATE TABLE plan_step (
  id            INTEGER PRIMARY KEY,
  plan          INTEGER NOT NULL REFERENCES plan (id) ON DELETE CASCADE,
  select_type   TEXT    NOT NULL,
  table_name    TEXT    NOT NULL,
  access        TEXT    NOT NULL,
  possible_keys TEXT    NOT NULL,
  key_name      TEXT    NOT NULL,
  key_len       TEXT    NOT NULL,
  ref           TEXT    NOT NULL,
  row_estimate  REAL,
  filtered      REAL,
  extra         TEXT    NOT NULL
);
CREATE TABLE profile (
  id       INTEGER PRIMARY KEY,
  host     TEXT    NOT NULL,
  program  TEXT    NOT NULL,
  address  TEXT    NOT NULL,
  kind     TEXT    NOT NULL,
  unit     TEXT    NOT NULL,
  from_ns  INTEGER NOT NULL,
  to_ns    INTEGER NOT NULL,
  total    INTEGER NOT NULL,
  stacks   INTEGER NOT NULL,
  note     TEXT    NOT NULL,
  data     BLOB
);
CREATE TABLE profile_function (
  id       INTEGER PRIMARY KEY,
  profile  INTEGER NOT NULL,
  name     TEXT    NOT NULL,
  file     TEXT    NOT NULL,
  line     INTEGER NOT NULL,
  flat     INTEGER NOT NULL,
  cum      INTEGER NOT NULL
);
CREATE TABLE query (
  id             INTEGER PRIMARY KEY,
  host           TEXT    NOT NULL,
  query_id       TEXT    NOT NULL,
  fingerprint    TEXT    NOT NULL,
  tag            TEXT    NOT NULL,
  verb           TEXT    NOT NULL,
  tables         TEXT    NOT NULL,
  calls          INTEGER NOT NULL,
  total_ns       INTEGER NOT NULL,
  lock_ns        INTEGER NOT NULL,
  rows_examined  INTEGER NOT NULL,
  rows_sent      INTEGER NOT NULL,
  rows_affected  INTEGER NOT NULL,
  has_affected   INTEGER NOT NULL,
  none_affected  INTEGER NOT NULL,
  first_ns       INTEGER NOT NULL,
  last_ns        INTEGER NOT NULL,
  latency_p50_ns INTEGER NOT NULL,
  latency_p99_ns INTEGER NOT NULL,
  latency_max_ns INTEGER NOT NULL,
  latency        BLOB
, schema_name    TEXT    NOT NULL DEFAULT '', squares        REAL             DEFAULT 0, seconds        TEXT    NOT NULL DEFAULT 'null', distinct_texts INTEGER NOT NULL DEFAULT 0, repeated       INTEGER NOT NULL DEFAULT 0, streak         INTEGER NOT NULL DEFAULT 0, streaks        INTEGER NOT NULL DEFAULT 0, bytes_sent INTEGER NOT NULL DEFAULT 0, single_row INTEGER NOT NULL DEFAULT 0, numbers TEXT NOT NULL DEFAULT 'null', by_second BLOB);
CREATE TABLE query_join (
  id            INTEGER PRIMARY KEY,
  host          TEXT    NOT NULL,
  source        TEXT    NOT NULL,
  resolution_ns INTEGER NOT NULL,
  from_ns       INTEGER NOT NULL,
  to_ns         INTEGER NOT NULL,
  requests      INTEGER NOT NULL,
  statements    INTEGER NOT NULL,
  questions     INTEGER NOT NULL,
  background    REAL,
  connections   INTEGER NOT NULL,
  busy          REAL,
  saturated     INTEGER NOT NULL,
  refused       TEXT    NOT NULL,
  checks        TEXT    NOT NULL,
  loops         TEXT    NOT NULL,
  cpu_ns        INTEGER NOT NULL
);
CREATE TABLE raw_bad_line (
  id         INTEGER PRIMARY KEY,
  log_window INTEGER NOT NULL REFERENCES log_window (id) ON DELETE CASCADE,
  line       INTEGER NOT NULL,
  text       TEXT    NOT NULL,
  why        TEXT    NOT NULL
);
CREATE TABLE raw_command (
  id     INTEGER PRIMARY KEY REFERENCES command (id) ON DELETE CASCADE,
  output TEXT    NOT NULL
);
CREATE TABLE raw_config (
  id   INTEGER PRIMARY KEY REFERENCES config (id) ON DELETE CASCADE,
  text TEXT    NOT NULL
);
CREATE TABLE raw_evidence (
  id   INTEGER PRIMARY KEY REFERENCES evidence (id) ON DELETE CASCADE,
  text TEXT    NOT NULL,
  note TEXT    NOT NULL
);
CREATE TABLE raw_message (
  id     INTEGER PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
  sample TEXT    NOT NULL
);
CREATE TABLE raw_plan (
  id   INTEGER PRIMARY KEY REFERENCES plan (id) ON DELETE CASCADE,
  text TEXT    NOT NULL
);
CREATE TABLE raw_query (
  id     INTEGER PRIMARY KEY REFERENCES query (id) ON DELETE CASCADE,
  sample TEXT    NOT NULL
);
CREATE TABLE raw_save (
  id         INTEGER PRIMARY KEY,
  save_shape INTEGER NOT NULL REFERENCES save_shape (id) ON DELETE CASCADE,
  sample     TEXT    NOT NULL
);
CREATE TABLE raw_statement (
  id   INTEGER PRIMARY KEY REFERENCES query (id) ON DELETE CASCADE,
  text TEXT    NOT NULL
);
CREATE TABLE raw_uri (
  id  INTEGER PRIMARY KEY REFERENCES slow_request (id) ON DELETE CASCADE,
  uri TEXT    NOT NULL
);
CREATE TABLE row_check (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  table_name  TEXT    NOT NULL,
  rows_before INTEGER NOT NULL,
  rows_after  INTEGER NOT NULL,
  successes   INTEGER NOT NULL
);
CREATE TABLE run (
  id               INTEGER PRIMARY KEY CHECK (id = 1),
  run_id           TEXT    NOT NULL,
  project          TEXT    NOT NULL,
  label            TEXT    NOT NULL,
  note             TEXT    NOT NULL,
  started_unix_ns  INTEGER NOT NULL,
  zone             TEXT    NOT NULL,
  zone_offset_s    INTEGER NOT NULL,
  length_ns        INTEGER NOT NULL,
  state            TEXT    NOT NULL,
  stop_reason      TEXT    NOT NULL,
  version          TEXT    NOT NULL,
  revision         TEXT    NOT NULL,
  dirty            INTEGER NOT NULL,
  load             TEXT    NOT NULL,
  verdict          TEXT    NOT NULL,
  recorder_pid     INTEGER NOT NULL,
  recorder_start   INTEGER NOT NULL,
  recorder_boot_id TEXT    NOT NULL
, run_group      TEXT    NOT NULL DEFAULT '', repeat         INTEGER NOT NULL DEFAULT 0, observers      TEXT    NOT NULL DEFAULT '', price_per_hour REAL             DEFAULT 0, currency       TEXT    NOT NULL DEFAULT '', base TEXT NOT NULL DEFAULT '');
CREATE TABLE save_shape (
  id         INTEGER PRIMARY KEY,
  host       TEXT    NOT NULL,
  table_name TEXT    NOT NULL,
  count      INTEGER NOT NULL,
  inserts    INTEGER NOT NULL
);
CREATE TABLE score (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  value   REAL,
  outcome TEXT    NOT NULL,
  source  TEXT    NOT NULL
, requests INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0);
CREATE TABLE series (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  source      TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  instance    TEXT    NOT NULL,
  unit        TEXT    NOT NULL,
  kind        TEXT    NOT NULL,
  points      INTEGER NOT NULL DEFAULT 0,
  first_ns    INTEGER,
  last_ns     INTEGER,
  first_value REAL,
  last_value  REAL,
  min_value   REAL,
  max_value   REAL,
  UNIQUE (host, source, name, instance)
);
CREATE TABLE setting (
  id    INTEGER PRIMARY KEY,
  host  TEXT    NOT NULL,
  scope TEXT    NOT NULL,
  name  TEXT    NOT NULL,
  value TEXT    NOT NULL
);
CREATE TABLE silence (
  id         INTEGER PRIMARY KEY,
  finding_id TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  near       REAL,
  blind      INTEGER NOT NULL
);
CREATE TABLE slow_request (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  method      TEXT    NOT NULL,
  route       TEXT    NOT NULL,
  status      INTEGER NOT NULL,
  at_ns       INTEGER NOT NULL,
  latency_ns  INTEGER NOT NULL,
  upstream_ns INTEGER NOT NULL,
  bytes       INTEGER NOT NULL
);
CREATE TABLE step (
  id         INTEGER PRIMARY KEY,
  number     INTEGER NOT NULL,
  per_sec    REAL,
  from_ns    INTEGER NOT NULL,
  to_ns      INTEGER NOT NULL,
  planned_ns INTEGER NOT NULL
, per_sec_to REAL DEFAULT 0);
CREATE TABLE summary (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  source       TEXT    NOT NULL,
  requests     INTEGER NOT NULL,
  succeeded    INTEGER NOT NULL,
  per_sec      REAL,
  asked        REAL,
  p50_ns       INTEGER NOT NULL,
  p99_ns       INTEGER NOT NULL,
  cpu_ns       INTEGER NOT NULL,
  load_time_ns INTEGER NOT NULL,
  bottleneck   TEXT    NOT NULL
);
CREATE TABLE table_def (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  schema_name TEXT    NOT NULL,
  name        TEXT    NOT NULL,
  definition  TEXT    NOT NULL,
  engine      TEXT    NOT NULL,
  row_count   INTEGER NOT NULL,
  data_bytes  INTEGER NOT NULL,
  index_bytes INTEGER NOT NULL,
  indexes     TEXT    NOT NULL
, columns TEXT NOT NULL DEFAULT 'null', checks TEXT NOT NULL DEFAULT 'null');
CREATE TABLE tail (
  id     INTEGER PRIMARY KEY,
  host   TEXT    NOT NULL,
  source TEXT    NOT NULL,
  at_ns  INTEGER NOT NULL,
  data   BLOB    NOT NULL
);
CREATE TABLE trace (
  id         INTEGER PRIMARY KEY,
  host       TEXT    NOT NULL,
  from_ns    INTEGER NOT NULL,
  to_ns      INTEGER NOT NULL,
  members    TEXT    NOT NULL,
  attach_ns  INTEGER NOT NULL,
  cpu_ns     INTEGER NOT NULL,
  events     INTEGER NOT NULL,
  lost       INTEGER NOT NULL,
  notes      TEXT    NOT NULL,
  refused    TEXT    NOT NULL,
  requests   INTEGER NOT NULL,
  unanswered INTEGER NOT NULL,
  mixed      INTEGER NOT NULL,
  statements INTEGER NOT NULL,
  tied       INTEGER NOT NULL,
  partial    INTEGER NOT NULL,
  outside    INTEGER NOT NULL,
  unresolved INTEGER NOT NULL,
  setup      INTEGER NOT NULL,
  after      INTEGER NOT NULL,
  endpoints  TEXT    NOT NULL,
  calls      TEXT    NOT NULL,
  externals  TEXT    NOT NULL,
  syncs      TEXT    NOT NULL
);
CREATE TABLE txn (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  shape       TEXT    NOT NULL,
  tag         TEXT    NOT NULL,
  verbs       TEXT    NOT NULL,
  count       INTEGER NOT NULL,
  rolled_back INTEGER NOT NULL,
  read_only   INTEGER NOT NULL,
  statements  INTEGER NOT NULL,
  total_ns    INTEGER NOT NULL,
  max_ns      INTEGER NOT NULL
);
CREATE TABLE unseen (
  id          INTEGER PRIMARY KEY,
  what        TEXT    NOT NULL,
  why         TEXT    NOT NULL,
  show_by     TEXT    NOT NULL
);
CREATE TABLE warning (
  id   INTEGER PRIMARY KEY,
  code TEXT    NOT NULL,
  text TEXT    NOT NULL,
  hint TEXT    NOT NULL
, host TEXT NOT NULL DEFAULT '');
