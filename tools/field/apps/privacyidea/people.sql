-- Whose tokens they are: a table that the SQL resolver reads.
CREATE TABLE people (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, username varchar(64) NOT NULL, surname varchar(64), givenname varchar(64), email varchar(128), password varchar(128), UNIQUE (username));
INSERT INTO people SELECT seq, CONCAT('user', seq), ELT(seq % 5 + 1, 'Stone', 'Harbour', 'Copper', 'Field', 'Lamp'), CONCAT('Person ', seq), CONCAT('user', seq, '@example.org'),
  CONCAT('{SSHA}', TO_BASE64(CONCAT(UNHEX(SHA1(CONCAT('test', 'salt'))), 'salt'))) FROM seq_1_to_10000;
