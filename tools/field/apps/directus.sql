CREATE TABLE authors (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(255), bio TEXT);
CREATE TABLE categories (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(255), slug VARCHAR(255));
CREATE TABLE articles (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, status VARCHAR(255) NOT NULL DEFAULT 'draft', title VARCHAR(255), slug VARCHAR(255),
  published_on DATETIME, views INT DEFAULT 0, teaser TEXT, body LONGTEXT, author INT UNSIGNED, category INT UNSIGNED,
  CONSTRAINT articles_author_foreign FOREIGN KEY (author) REFERENCES authors (id) ON DELETE SET NULL,
  CONSTRAINT articles_category_foreign FOREIGN KEY (category) REFERENCES categories (id) ON DELETE SET NULL);
CREATE TABLE comments (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, article INT UNSIGNED, name VARCHAR(255), text TEXT, date_created TIMESTAMP NULL,
  approved TINYINT(1) DEFAULT 0, CONSTRAINT comments_article_foreign FOREIGN KEY (article) REFERENCES articles (id) ON DELETE SET NULL);
INSERT INTO authors (name, bio) SELECT CONCAT('Author ', seq), REPEAT('Writes for the field. ', 8) FROM seq_1_to_200;
INSERT INTO categories (name, slug) SELECT CONCAT('Section ', seq), CONCAT('section-', seq) FROM seq_1_to_12;
INSERT INTO articles (status, title, slug, published_on, views, teaser, body, author, category)
SELECT IF(seq % 10 = 0, 'draft', 'published'), CONCAT(ELT(1 + seq % 7, 'Copper', 'Stone', 'Paper', 'River', 'Glass', 'Cloud', 'Salt'), ' and the field, part ', seq), CONCAT('article-', seq),
  '2026-01-01' + INTERVAL FLOOR(RAND(seq) * 400000) MINUTE, FLOOR(RAND(seq + 1) * 10000), REPEAT('A teaser of the field. ', 6), REPEAT(CONCAT('Text of article ', seq, ' on ', ELT(1 + seq % 5, 'ants', 'bees', 'crows', 'deer', 'eels'), '. '), 60),
  1 + FLOOR(RAND(seq + 2) * 200), 1 + FLOOR(RAND(seq + 3) * 12) FROM seq_1_to_20000;
INSERT INTO comments (article, name, text, date_created, approved)
SELECT 1 + FLOOR(RAND(seq) * 20000), CONCAT('Reader ', seq % 900), REPEAT('I think so, too. ', 5), '2026-06-01' + INTERVAL seq MINUTE, seq % 20 <> 0 FROM seq_1_to_60000;
INSERT INTO directus_collections (collection) VALUES ('authors'), ('categories'), ('articles'), ('comments');
INSERT INTO directus_fields (collection, field, special, interface) VALUES ('articles', 'author', 'm2o', 'select-dropdown-m2o'),
  ('articles', 'category', 'm2o', 'select-dropdown-m2o'), ('articles', 'comments', 'o2m', 'list-o2m'), ('comments', 'article', 'm2o', 'select-dropdown-m2o'),
  ('categories', 'articles', 'o2m', 'list-o2m'), ('comments', 'date_created', 'date-created', 'datetime'), ('comments', 'approved', 'cast-boolean', 'boolean');
INSERT INTO directus_relations (many_collection, many_field, one_collection, one_field) VALUES ('articles', 'author', 'authors', NULL),
  ('articles', 'category', 'categories', 'articles'), ('comments', 'article', 'articles', 'comments');
SET @public = (SELECT policy FROM directus_access WHERE role IS NULL AND user IS NULL);
INSERT INTO directus_permissions (collection, action, permissions, validation, fields, policy) VALUES ('authors', 'read', '{}', '{}', '*', @public),
  ('categories', 'read', '{}', '{}', '*', @public), ('articles', 'read', '{"status":{"_eq":"published"}}', '{}', '*', @public),
  ('comments', 'read', '{"approved":{"_eq":true}}', '{}', '*', @public), ('comments', 'create', '{}', '{}', '*', @public);
ANALYZE TABLE authors, categories, articles, comments;
