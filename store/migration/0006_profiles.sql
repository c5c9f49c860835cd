-- Schema 6: where programs spent CPU time, memory and waiting, by function.

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
