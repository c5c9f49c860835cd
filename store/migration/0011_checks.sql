-- Schema 11: what a private server says of indexes that are not there.

ALTER TABLE table_def ADD COLUMN checks TEXT NOT NULL DEFAULT 'null';
