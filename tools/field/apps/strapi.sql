-- 20,000 articles, each a draft and a published row, by 60 authors in 12 categories, two of 80 tags each; 60,000 comments; 400 accounts.
SET SESSION cte_max_recursion_depth = 100000, sql_mode = '', foreign_key_checks = 0, unique_checks = 0;
CREATE TEMPORARY TABLE n (n INT PRIMARY KEY);
INSERT INTO n WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 60000) SELECT n FROM s;
INSERT INTO authors (id, document_id, name, email, bio, created_at, updated_at, published_at)
  SELECT n, LPAD(CONCAT('au', n), 24, 'x'), CONCAT('Author ', n), CONCAT('author', n, '@example.com'), REPEAT('A writer of many things. ', 8), NOW(6), NOW(6), NOW(6) FROM n WHERE n <= 60;
INSERT INTO categories (id, document_id, name, slug, created_at, updated_at, published_at)
  SELECT n, LPAD(CONCAT('ca', n), 24, 'x'), CONCAT('Section ', n), CONCAT('section-', n), NOW(6), NOW(6), NOW(6) FROM n WHERE n <= 12;
INSERT INTO tags (id, document_id, name, slug, created_at, updated_at, published_at)
  SELECT n, LPAD(CONCAT('ta', n), 24, 'x'), CONCAT('Tag ', n), CONCAT('tag-', n), NOW(6), NOW(6), NOW(6) FROM n WHERE n <= 80;
-- ids of drafts are odd, those of what is published even.
INSERT INTO articles (id, document_id, title, slug, summary, body, day, views, featured, created_at, updated_at, published_at)
  SELECT 2 * n.n - 1 + p.n, LPAD(CONCAT('ar', n.n), 24, 'x'), CONCAT('About ', ELT(n.n % 5 + 1, 'copper', 'stone', 'paper', 'light', 'rivers'), ' and ', ELT(n.n % 7 + 1, 'wood', 'iron', 'wool', 'salt', 'glass', 'clay', 'rope'), ' ', n.n),
    CONCAT('article-', n.n), REPEAT('What it is about, in short. ', 5), REPEAT(CONCAT('Words of a paragraph that goes on for a while, of ', n.n, '. '), 40),
    CURDATE() - INTERVAL (20000 - n.n) HOUR, n.n * 7919 % 50000, n.n % 40 = 0, NOW(6) - INTERVAL (20000 - n.n) HOUR, NOW(6) - INTERVAL (20000 - n.n) HOUR,
    IF(p.n, NOW(6) - INTERVAL (20000 - n.n) HOUR, NULL)
  FROM n JOIN (SELECT 0 AS n UNION SELECT 1) p WHERE n.n <= 20000;
INSERT INTO articles_author_lnk (article_id, author_id, article_ord) SELECT id, (id + 1) DIV 2 % 60 + 1, id FROM articles;
INSERT INTO articles_category_lnk (article_id, category_id, article_ord) SELECT id, (id + 1) DIV 2 % 12 + 1, id FROM articles;
INSERT INTO articles_tags_lnk (article_id, tag_id, tag_ord, article_ord) SELECT id, (id + 1) DIV 2 % 80 + 1, 1, id FROM articles;
INSERT INTO articles_tags_lnk (article_id, tag_id, tag_ord, article_ord) SELECT id, ((id + 1) DIV 2 * 7 + 13) % 80 + 1, 2, id FROM articles WHERE ((id + 1) DIV 2 * 7 + 13) % 80 <> (id + 1) DIV 2 % 80;
INSERT INTO comments (id, document_id, text, writer, created_at, updated_at, published_at)
  SELECT n, LPAD(CONCAT('co', n), 24, 'x'), CONCAT('I think so too, ', n, ', ', REPEAT('and more of it. ', n % 9)), CONCAT('person', n % 400), NOW(6) - INTERVAL (60000 - n) MINUTE, NOW(6), NOW(6) FROM n;
INSERT INTO comments_article_lnk (comment_id, article_id) SELECT n, 2 * (n % 20000 + 1) FROM n;
INSERT INTO up_users (id, document_id, username, email, provider, password, confirmed, blocked, created_at, updated_at, published_at)
  SELECT n + 1, LPAD(CONCAT('us', n), 24, 'x'), CONCAT('person', n), CONCAT('person', n, '@example.com'), 'local', u.password, 1, 0, NOW(6), NOW(6), NOW(6) FROM n JOIN up_users u ON u.username = 'person0' WHERE n <= 400;
INSERT INTO up_users_role_lnk (user_id, role_id, user_ord) SELECT u.id, r.role_id, u.id FROM up_users u JOIN up_users_role_lnk r ON r.user_id = 1 WHERE u.id > 1;
DROP TEMPORARY TABLE n;
ANALYZE TABLE articles, articles_author_lnk, articles_category_lnk, articles_tags_lnk, comments, comments_article_lnk, up_users, up_users_role_lnk;
