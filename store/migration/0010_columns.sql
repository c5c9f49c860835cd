-- Schema 10: what a bounded sample of a table says of the values of its columns.

ALTER TABLE table_def ADD COLUMN columns TEXT NOT NULL DEFAULT 'null';
