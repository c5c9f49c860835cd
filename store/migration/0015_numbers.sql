-- Schema 15: the columns that a statement compares with numbers without quotes.

ALTER TABLE query ADD COLUMN numbers TEXT NOT NULL DEFAULT 'null';
