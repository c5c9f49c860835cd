-- Schema 16: the host of a merged run that a warning is about.

ALTER TABLE warning ADD COLUMN host TEXT NOT NULL DEFAULT '';
