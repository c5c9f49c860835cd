CREATE TABLE books (id INT PRIMARY KEY, title VARCHAR(120) NOT NULL, author INT NOT NULL, shelf INT NOT NULL, language CHAR(2) NOT NULL, added DATETIME NOT NULL, pages INT NOT NULL);
CREATE TABLE authors (id INT PRIMARY KEY, name VARCHAR(80) NOT NULL);
CREATE TABLE loans (id INT PRIMARY KEY, reader INT NOT NULL, book INT NOT NULL, branch INT NOT NULL, lent DATETIME NOT NULL, back DATETIME NULL);
CREATE TABLE reviews (id INT PRIMARY KEY, book INT NOT NULL, stars INT NOT NULL, body VARCHAR(400) NOT NULL);
INSERT INTO authors SELECT seq, CONCAT('author ', seq) FROM seq_1_to_2000;
INSERT INTO books SELECT seq, CONCAT('book ', seq), seq * 7 % 2000 + 1, seq * 13 % 300, 'en', '2020-01-01' + INTERVAL seq * 7919 % 20000 HOUR, seq % 900 FROM seq_1_to_20000;
INSERT INTO loans SELECT seq, seq * 31 % 3000, seq * 17 % 20000 + 1, 1, '2025-01-01' + INTERVAL seq MINUTE, NULL FROM seq_1_to_40000;
INSERT INTO reviews SELECT seq, seq * 11 % 20000 + 1, seq % 5 + 1, REPEAT('a good book ', 20) FROM seq_1_to_30000;
