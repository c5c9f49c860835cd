-- Schema 7: what a benchmark counted of its requests, and of them those that failed.
ALTER TABLE score ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE score ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
