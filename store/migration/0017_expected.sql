-- Schema 17: answers that a load asked for although their status is that of a failure.

ALTER TABLE load_second ADD COLUMN expected INTEGER NOT NULL DEFAULT 0;
