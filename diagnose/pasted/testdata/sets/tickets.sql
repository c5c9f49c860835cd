CREATE TABLE tickets (id INT PRIMARY KEY, title VARCHAR(120) NOT NULL, agent INT NOT NULL, opened DATETIME NOT NULL, deleted TINYINT NOT NULL, body VARCHAR(300) NOT NULL);
CREATE TABLE remarks (id INT PRIMARY KEY, ticket INT NOT NULL, kind VARCHAR(10) NOT NULL, body VARCHAR(300) NOT NULL);
CREATE TABLE agents (id INT PRIMARY KEY, login VARCHAR(40) NOT NULL, UNIQUE KEY by_login (login));
CREATE TABLE tags (id INT PRIMARY KEY AUTO_INCREMENT, ticket INT NOT NULL, word VARCHAR(20) NOT NULL);
INSERT INTO agents SELECT seq, CONCAT('agent', seq) FROM seq_1_to_500;
INSERT INTO tickets SELECT seq, CONCAT('ticket ', seq), seq % 500 + 1, '2025-01-01' + INTERVAL seq * 7919 % 30000 MINUTE, 0, REPEAT('it does not work ', 10) FROM seq_1_to_30000;
INSERT INTO remarks SELECT seq, seq * 7 % 30000 + 1, 'note', REPEAT('seen again ', 10) FROM seq_1_to_40000;
