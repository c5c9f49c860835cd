-- Schema 12: which server blocks of a web server answer the load.

ALTER TABLE member ADD COLUMN blocks TEXT NOT NULL DEFAULT 'null';
