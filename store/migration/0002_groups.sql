-- Schema 2: runs that repeat one another, what a benchmark said of a run, the
-- phases of its traffic, and the texts of the configuration in force.

ALTER TABLE run ADD COLUMN run_group      TEXT    NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN repeat         INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN observers      TEXT    NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN price_per_hour REAL             DEFAULT 0;
ALTER TABLE run ADD COLUMN currency       TEXT    NOT NULL DEFAULT '';

ALTER TABLE host ADD COLUMN clock_note TEXT NOT NULL DEFAULT '';

CREATE TABLE score (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  value   REAL,
  outcome TEXT    NOT NULL,
  source  TEXT    NOT NULL
);

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

CREATE TABLE phase (
  id      INTEGER PRIMARY KEY,
  kind    TEXT    NOT NULL,
  from_ns INTEGER NOT NULL,
  to_ns   INTEGER NOT NULL,
  why     TEXT    NOT NULL
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

CREATE TABLE raw_config (
  id   INTEGER PRIMARY KEY REFERENCES config (id) ON DELETE CASCADE,
  text TEXT    NOT NULL
);
