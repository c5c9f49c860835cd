-- Schema 13: what the kernel showed of the service's processes: requests and their statements.

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
