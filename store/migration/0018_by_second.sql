-- Schema 18: the times of each endpoint and of each class of statements by the second, for tables of a part of a run.

ALTER TABLE endpoint ADD COLUMN by_second BLOB;
ALTER TABLE query    ADD COLUMN by_second BLOB;
