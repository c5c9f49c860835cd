-- 10,000 customers, 50 agents, 20 tags, 30,000 tickets (a fifth of them open or waiting), 150,000 comments.
SET SESSION cte_max_recursion_depth = 200000;
CREATE TABLE n (n INT PRIMARY KEY);
INSERT INTO n WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 150000) SELECT n FROM s;
INSERT INTO customers (id, name, email, company) SELECT n, CONCAT('Customer ', n), CONCAT('c', n, '@example.com'), CONCAT('Company ', n % 700) FROM n WHERE n <= 10000;
INSERT INTO agents (id, name, team) SELECT n, CONCAT('Agent ', n), ELT(n % 3 + 1, 'first line', 'second line', 'billing') FROM n WHERE n <= 50;
INSERT INTO tags (id, name) SELECT n, CONCAT('tag', n) FROM n WHERE n <= 20;
INSERT INTO tickets (id, title, description, status, priority, created_at, updated_at, customer_id, agent_id)
  SELECT n, CONCAT(ELT(n % 6 + 1, 'Printer', 'Login', 'Invoice', 'Network', 'Backup', 'Phone'), ' ', ELT(n % 5 + 1, 'is slow', 'fails', 'is wrong', 'stopped', 'asks again'), ' #', n),
    REPEAT(CONCAT('What happens in case ', n, ' is written below. '), 5 + n % 20), ELT(n % 10 + 1, 'open', 'waiting', 'closed', 'closed', 'closed', 'closed', 'closed', 'closed', 'closed', 'closed'),
    n % 4, NOW(6) - INTERVAL (30001 - n) * 10 MINUTE, NOW(6) - INTERVAL (30001 - n) * 9 MINUTE, n * 7 % 10000 + 1, n % 50 + 1 FROM n WHERE n <= 30000;
INSERT INTO ticket_tags (ticket_id, tag_id) SELECT n, n % 20 + 1 FROM n WHERE n <= 30000 UNION SELECT n, n * 7 % 20 + 1 FROM n WHERE n <= 30000;
INSERT INTO comments (ticket_id, author_id, body, created_at)
  SELECT n % 30000 + 1, n % 50 + 1, REPEAT('Another line of the answer. ', 3 + n % 10), NOW(6) - INTERVAL (150001 - n) * 2 MINUTE FROM n;
DROP TABLE n;
ANALYZE TABLE customers, agents, tags, tickets, ticket_tags, comments;
