-- 6,000 posts with 40 tags, by the one author there is; 20,000 members.
SET SESSION cte_max_recursion_depth = 100000, sql_mode = '';
SET @a = (SELECT id FROM users LIMIT 1);
INSERT INTO tags (id, name, slug, visibility, created_at, updated_at)
  WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 40)
  SELECT LPAD(CONCAT('a', n), 24, '0'), CONCAT('Subject ', n), CONCAT('subject-', n), 'public', NOW(), NOW() FROM s;
INSERT INTO posts (id, uuid, title, slug, lexical, html, plaintext, type, status, visibility, email_recipient_filter, featured,
    created_at, updated_at, published_at, published_by)
  WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 6000)
  SELECT LPAD(CONCAT('b', n), 24, '0'), UUID(), CONCAT('About ', ELT(n % 5 + 1, 'copper', 'stone', 'paper', 'light', 'rivers'), ' ', n), CONCAT('post-', n),
    '{"root":{"children":[],"direction":null,"format":"","indent":0,"type":"root","version":1}}',
    REPEAT(CONCAT('<p>', REPEAT('words of a paragraph ', 20), '</p>'), 12), REPEAT('words of a paragraph ', 240), 'post', 'published', 'public', 'all', n % 50 = 0,
    NOW() - INTERVAL n HOUR, NOW() - INTERVAL n HOUR, NOW() - INTERVAL n HOUR, @a FROM s;
INSERT INTO posts_authors (id, post_id, author_id, sort_order) SELECT REPLACE(id, 'b', 'c'), id, @a, 0 FROM posts WHERE slug LIKE 'post-%';
INSERT INTO posts_tags (id, post_id, tag_id, sort_order)
  SELECT REPLACE(id, 'b', 'd'), id, LPAD(CONCAT('a', SUBSTR(slug, 6) % 40 + 1), 24, '0'), 0 FROM posts WHERE slug LIKE 'post-%';
INSERT INTO posts_tags (id, post_id, tag_id, sort_order)
  SELECT REPLACE(id, 'b', 'e'), id, LPAD(CONCAT('a', (SUBSTR(slug, 6) DIV 40) % 40 + 1), 24, '0'), 1 FROM posts
  WHERE slug LIKE 'post-%' AND SUBSTR(slug, 6) % 40 <> (SUBSTR(slug, 6) DIV 40) % 40;
INSERT INTO members (id, uuid, transient_id, email, status, name, email_disabled, created_at, updated_at)
  WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 20000)
  SELECT LPAD(CONCAT('f', n), 24, '0'), UUID(), UUID(), CONCAT('m', n, '@example.com'), 'free', CONCAT('Member ', n), 0, NOW(), NOW() FROM s;
INSERT INTO api_keys (id, type, secret, created_at, updated_at, integration_id)
  SELECT LPAD('99', 24, '0'), 'content', '22444f78447824223cefc48062', NOW(), NOW(), id FROM integrations ORDER BY id LIMIT 1;
ANALYZE TABLE posts, posts_tags, posts_authors, members;
