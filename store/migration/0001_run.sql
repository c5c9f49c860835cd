-- Schema 1 of a kasoku run file. docs/runfile.md is the contract.
--
-- Times are nanoseconds since the start of the run unless the name says
-- otherwise; sizes are bytes; counts of 64 bits without a sign are stored as
-- their two's complement. Columns named like the plural of a thing hold JSON.
-- Tables whose name starts with raw_ hold text as it was found in logs and
-- statements; dropping their rows changes no figure.

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

CREATE TABLE step (
  id         INTEGER PRIMARY KEY,
  number     INTEGER NOT NULL,
  per_sec    REAL,
  from_ns    INTEGER NOT NULL,
  to_ns      INTEGER NOT NULL,
  planned_ns INTEGER NOT NULL
);

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
);

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
  service        BLOB,
  UNIQUE (host, second, step, target)
);

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

CREATE TABLE tail (
  id     INTEGER PRIMARY KEY,
  host   TEXT    NOT NULL,
  source TEXT    NOT NULL,
  at_ns  INTEGER NOT NULL,
  data   BLOB    NOT NULL
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

CREATE TABLE gap (
  id      INTEGER PRIMARY KEY,
  host    TEXT    NOT NULL,
  source  TEXT    NOT NULL,
  from_ns INTEGER NOT NULL,
  to_ns   INTEGER NOT NULL,
  reason  TEXT    NOT NULL
);

CREATE TABLE event (
  id    INTEGER PRIMARY KEY,
  host  TEXT    NOT NULL,
  at_ns INTEGER NOT NULL,
  kind  TEXT    NOT NULL,
  text  TEXT    NOT NULL
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

CREATE TABLE setting (
  id    INTEGER PRIMARY KEY,
  host  TEXT    NOT NULL,
  scope TEXT    NOT NULL,
  name  TEXT    NOT NULL,
  value TEXT    NOT NULL
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
);

CREATE TABLE save_shape (
  id         INTEGER PRIMARY KEY,
  host       TEXT    NOT NULL,
  table_name TEXT    NOT NULL,
  count      INTEGER NOT NULL,
  inserts    INTEGER NOT NULL
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
);

CREATE TABLE row_check (
  id          INTEGER PRIMARY KEY,
  host        TEXT    NOT NULL,
  table_name  TEXT    NOT NULL,
  rows_before INTEGER NOT NULL,
  rows_after  INTEGER NOT NULL,
  successes   INTEGER NOT NULL
);

CREATE TABLE warning (
  id   INTEGER PRIMARY KEY,
  code TEXT    NOT NULL,
  text TEXT    NOT NULL,
  hint TEXT    NOT NULL
);

CREATE TABLE diagnosis (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  verdict TEXT    NOT NULL,
  rules   INTEGER NOT NULL
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

CREATE TABLE silence (
  id         INTEGER PRIMARY KEY,
  finding_id TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  near       REAL,
  blind      INTEGER NOT NULL
);

CREATE TABLE raw_command (
  id     INTEGER PRIMARY KEY REFERENCES command (id) ON DELETE CASCADE,
  output TEXT    NOT NULL
);

CREATE TABLE raw_bad_line (
  id         INTEGER PRIMARY KEY,
  log_window INTEGER NOT NULL REFERENCES log_window (id) ON DELETE CASCADE,
  line       INTEGER NOT NULL,
  text       TEXT    NOT NULL,
  why        TEXT    NOT NULL
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

CREATE TABLE raw_message (
  id     INTEGER PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
  sample TEXT    NOT NULL
);

CREATE TABLE raw_evidence (
  id   INTEGER PRIMARY KEY REFERENCES evidence (id) ON DELETE CASCADE,
  text TEXT    NOT NULL,
  note TEXT    NOT NULL
);

CREATE TABLE checksum (
  id         INTEGER PRIMARY KEY,
  table_name TEXT    NOT NULL,
  last_id    INTEGER NOT NULL,
  row_count  INTEGER NOT NULL,
  sum        INTEGER NOT NULL
);
