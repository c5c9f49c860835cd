CREATE TABLE clients (id INT PRIMARY KEY, name VARCHAR(60) NOT NULL);
CREATE TABLE addresses (id INT PRIMARY KEY, client INT NOT NULL, street VARCHAR(60) NOT NULL, KEY addresses_client (client));
CREATE TABLE orders (id INT PRIMARY KEY, client INT NOT NULL, priority TINYINT NOT NULL, taken DATETIME NOT NULL, note VARCHAR(200) NOT NULL);
CREATE TABLE works (id INT PRIMARY KEY, job INT NOT NULL, worker INT NOT NULL, minutes INT NOT NULL, KEY works_job (job));
CREATE TABLE calls (id INT PRIMARY KEY, worker INT NOT NULL, at DATETIME NOT NULL, note VARCHAR(200) NOT NULL);
CREATE TABLE visits (id INT PRIMARY KEY, worker INT NOT NULL, at DATETIME NOT NULL, note VARCHAR(200) NOT NULL);
CREATE TABLE lent (id INT PRIMARY KEY, worker INT NOT NULL, label VARCHAR(60) NOT NULL, KEY lent_worker (worker));
CREATE TABLE owned (id INT PRIMARY KEY, worker INT NOT NULL, label VARCHAR(60) NOT NULL, KEY owned_worker (worker));
INSERT INTO clients SELECT seq, CONCAT('Client ', seq) FROM seq_1_to_2000;
INSERT INTO addresses SELECT seq, seq % 2000 + 1, CONCAT('Street ', seq) FROM seq_1_to_4000;
INSERT INTO orders SELECT seq, seq * 7 % 2000 + 1, seq % 5 + 1, '2026-01-01' + INTERVAL seq * 31 % 20000 MINUTE, REPEAT('note ', 20) FROM seq_1_to_20000;
INSERT INTO works SELECT seq, seq DIV 2 + 1, seq * 11 % 400 + 1, seq % 90 FROM seq_1_to_40000;
INSERT INTO calls SELECT seq, seq * 19 % 400 + 1, '2026-01-01' + INTERVAL seq MINUTE, REPEAT('call ', 20) FROM seq_1_to_20000;
INSERT INTO visits SELECT seq, seq * 23 % 400 + 1, '2026-01-01' + INTERVAL seq MINUTE, REPEAT('visit ', 20) FROM seq_1_to_20000;
INSERT INTO lent SELECT seq, seq % 400 + 1, CONCAT('tool ', seq) FROM seq_1_to_8000;
INSERT INTO owned SELECT seq, seq % 400 + 1, CONCAT('tool ', seq) FROM seq_1_to_8000
