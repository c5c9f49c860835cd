-- 12 blogs of 40 writers, 20,000 posts, one of six with a tag.
INSERT INTO users (id, username, password, email, created, status)
  SELECT seq + 1000, CONCAT('writer', seq), REPEAT('x', 60), NULL, NOW(), 0 FROM seq_1_to_40;
INSERT INTO collections (id, alias, title, description, format, privacy, owner_id, view_count)
  SELECT seq + 100, CONCAT('blog', seq), CONCAT('Blog ', seq), 'Words of a writer', 'blog', 1, 1000 + seq, 0 FROM seq_1_to_12;
INSERT INTO posts (id, slug, modify_token, text_appearance, language, rtl, privacy, owner_id, collection_id, pinned_position, created, updated, view_count, title, content)
  SELECT LPAD(CONV(seq + 100000000, 10, 36), 10, 'a'), CONCAT('post-', seq), NULL, 'norm', 'en', 0, 0, 1001 + seq % 12, 101 + seq % 12, IF(seq <= 36, seq DIV 12 + 1, NULL),
    NOW() - INTERVAL seq * 7 MINUTE, NOW() - INTERVAL seq * 7 MINUTE, seq % 100, CONCAT('Something ', ELT(seq % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river'), ' ', seq),
    CONCAT(REPEAT('Words of a *post* that goes on, with a [link](https://example.com/) now and then. ', 12), IF(seq % 6 = 0, CONCAT('#', ELT(seq % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river')), ''))
  FROM seq_1_to_20000;
INSERT INTO collectionattributes (collection_id, attribute, value) SELECT id, 'render_mathjax', '0' FROM collections WHERE id > 100;
ANALYZE TABLE users, collections, posts, collectionattributes;
