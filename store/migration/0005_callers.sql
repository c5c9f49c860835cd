-- Schema 5: which endpoint runs which statements, waits for locks, and more of what
-- the logs tell.

ALTER TABLE endpoint ADD COLUMN connects          INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN connect_count     INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN max_request_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN bots_passed       INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN bots_upstream_ns  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN paths             INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN varied            INTEGER NOT NULL DEFAULT 0;
ALTER TABLE endpoint ADD COLUMN variants          INTEGER NOT NULL DEFAULT 0;

ALTER TABLE query ADD COLUMN bytes_sent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE query ADD COLUMN single_row INTEGER NOT NULL DEFAULT 0;

ALTER TABLE message ADD COLUMN kind TEXT NOT NULL DEFAULT '';

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

CREATE TABLE deadlock (
  id         INTEGER PRIMARY KEY,
  host       TEXT    NOT NULL,
  at_ns      INTEGER NOT NULL,
  table_name TEXT    NOT NULL,
  statements TEXT    NOT NULL,
  indexes    TEXT    NOT NULL,
  count      INTEGER NOT NULL
);
