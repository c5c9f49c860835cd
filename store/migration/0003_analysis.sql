-- Schema 3: more of what the logs tell (requests, statements, transactions), plans
-- of statements with the tables they read, and advice on a server's settings.

ALTER TABLE endpoint ADD COLUMN squares        REAL             DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN min_bytes      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN max_bytes      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN request_bytes  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN upstream_ns    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN upstream_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN bots           INTEGER NOT NULL DEFAULT 0;

ALTER TABLE query ADD COLUMN schema_name    TEXT    NOT NULL DEFAULT '';
ALTER TABLE query ADD COLUMN squares        REAL             DEFAULT 0;
ALTER TABLE query ADD COLUMN seconds        TEXT    NOT NULL DEFAULT 'null';
ALTER TABLE query ADD COLUMN distinct_texts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE query ADD COLUMN repeated       INTEGER NOT NULL DEFAULT 0;
ALTER TABLE query ADD COLUMN streak         INTEGER NOT NULL DEFAULT 0;
ALTER TABLE query ADD COLUMN streaks        INTEGER NOT NULL DEFAULT 0;

CREATE TABLE raw_statement (
  id   INTEGER PRIMARY KEY REFERENCES query (id) ON DELETE CASCADE,
  text TEXT    NOT NULL
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

CREATE TABLE raw_uri (
  id  INTEGER PRIMARY KEY REFERENCES slow_request (id) ON DELETE CASCADE,
  uri TEXT    NOT NULL
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

CREATE TABLE raw_plan (
  id   INTEGER PRIMARY KEY REFERENCES plan (id) ON DELETE CASCADE,
  text TEXT    NOT NULL
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
);

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
