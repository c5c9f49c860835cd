-- Schema 14: the cores that a member may run on.

ALTER TABLE member ADD COLUMN cpus TEXT NOT NULL DEFAULT '';
