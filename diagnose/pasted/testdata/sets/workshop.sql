CREATE TABLE priorities (n TINYINT PRIMARY KEY, name VARCHAR(20) NOT NULL);
CREATE TABLE orders (id INT PRIMARY KEY, client INT NOT NULL, priority TINYINT NOT NULL, taken DATETIME NOT NULL, note VARCHAR(200) NOT NULL);
CREATE TABLE works (id INT PRIMARY KEY, job INT NOT NULL, worker INT NOT NULL, minutes INT NOT NULL, KEY works_job (job));
CREATE TABLE parts_used (id INT PRIMARY KEY, part INT NOT NULL, job INT NOT NULL, amount INT NOT NULL);
CREATE TABLE attributes (job INT NOT NULL, name VARCHAR(40) NOT NULL, value VARCHAR(200) NOT NULL, PRIMARY KEY (job, name));
CREATE TABLE moves (id INT PRIMARY KEY, part INT NOT NULL, amount INT NOT NULL, place VARCHAR(80) NOT NULL);
CREATE TABLE lent (id INT PRIMARY KEY, worker INT NOT NULL, label VARCHAR(60) NOT NULL, KEY lent_worker (worker));
INSERT INTO priorities SELECT seq, CONCAT('p', seq) FROM seq_1_to_5;
INSERT INTO orders SELECT seq, seq * 7 % 2000 + 1, seq % 5 + 1, '2026-01-01' + INTERVAL seq * 31 % 20000 MINUTE, REPEAT('note ', 20) FROM seq_1_to_20000;
INSERT INTO works SELECT seq, seq DIV 2 + 1, seq * 11 % 400 + 1, seq % 90 FROM seq_1_to_40000;
INSERT INTO parts_used SELECT seq, seq * 13 % 3000 + 1, seq DIV 2 + 1, seq % 9 + 1 FROM seq_1_to_40000;
INSERT INTO attributes SELECT seq, 'colour', CONCAT('colour ', seq % 400) FROM seq_1_to_20000;
INSERT INTO attributes SELECT seq, 'size', CONCAT('size ', seq % 12) FROM seq_1_to_20000;
INSERT INTO moves SELECT seq, seq * 17 % 2000 + 1, seq % 30, REPEAT('place ', 10) FROM seq_1_to_40000;
INSERT INTO lent SELECT seq, seq % 400 + 1, CONCAT('tool ', seq) FROM seq_1_to_8000
