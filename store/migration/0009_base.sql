-- Schema 9: the run that a try was made upon.
ALTER TABLE run ADD COLUMN base TEXT NOT NULL DEFAULT '';
