-- Schema 8: the service that was measured: its members, who calls whom, and what could
-- not be seen of it.

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
);

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

CREATE TABLE unseen (
  id          INTEGER PRIMARY KEY,
  what        TEXT    NOT NULL,
  why         TEXT    NOT NULL,
  show_by     TEXT    NOT NULL
);
