-- 20,000 posts with two terms each, 60,000 comments, 2,000 users, 20 categories, 200 tags, two fields a post.
INSERT INTO wp_users (ID, user_login, user_pass, user_nicename, user_email, user_registered, display_name)
  SELECT seq + 10, CONCAT('user', seq), '', CONCAT('user', seq), CONCAT('user', seq, '@example.com'), NOW(), CONCAT('User ', seq) FROM seq_1_to_2000;
INSERT INTO wp_posts (ID, post_author, post_date, post_date_gmt, post_content, post_title, post_excerpt, post_status, post_name, to_ping, pinged,
    post_modified, post_modified_gmt, post_content_filtered, guid, post_type, comment_count)
  SELECT seq + 100, 11 + seq % 40, NOW() - INTERVAL seq * 45 MINUTE, UTC_TIMESTAMP() - INTERVAL seq * 45 MINUTE,
    CONCAT('<!-- wp:paragraph --><p>', REPEAT(CONCAT('words of ', ELT(seq % 7 + 1, 'copper', 'stone', 'paper', 'light', 'river', 'glass', 'wood'), ' and others '), 60), '</p><!-- /wp:paragraph -->'),
    CONCAT('About ', ELT(seq % 7 + 1, 'copper', 'stone', 'paper', 'light', 'river', 'glass', 'wood'), ' ', seq), '', 'publish', CONCAT('post-', seq), '', '',
    NOW() - INTERVAL seq * 45 MINUTE, UTC_TIMESTAMP() - INTERVAL seq * 45 MINUTE, '', '', 'post', 3 FROM seq_1_to_20000;
INSERT INTO wp_terms (term_id, name, slug) SELECT seq + 100, CONCAT('Topic ', seq), CONCAT('topic-', seq) FROM seq_1_to_20;
INSERT INTO wp_terms (term_id, name, slug) SELECT seq + 200, CONCAT('Tag ', seq), CONCAT('tag-', seq) FROM seq_1_to_200;
INSERT INTO wp_term_taxonomy (term_taxonomy_id, term_id, taxonomy, description, count)
  SELECT term_id, term_id, IF(term_id > 200, 'post_tag', 'category'), '', IF(term_id > 200, 100, 1000) FROM wp_terms WHERE term_id > 100;
INSERT INTO wp_term_relationships (object_id, term_taxonomy_id) SELECT seq + 100, 101 + seq % 20 FROM seq_1_to_20000;
INSERT INTO wp_term_relationships (object_id, term_taxonomy_id) SELECT seq + 100, 201 + seq % 200 FROM seq_1_to_20000;
INSERT INTO wp_comments (comment_post_ID, comment_author, comment_author_email, comment_author_IP, comment_date, comment_date_gmt, comment_content, comment_approved)
  SELECT 100 + seq % 20000 + 1, CONCAT('Reader ', seq % 500), CONCAT('reader', seq % 500, '@example.com'), '10.0.0.1', NOW() - INTERVAL seq MINUTE, UTC_TIMESTAMP() - INTERVAL seq MINUTE,
    CONCAT('A comment, number ', seq), IF(seq % 50, '1', '0') FROM seq_1_to_60000;
INSERT INTO wp_postmeta (post_id, meta_key, meta_value) SELECT seq + 100, 'views', seq % 5000 FROM seq_1_to_20000;
INSERT INTO wp_postmeta (post_id, meta_key, meta_value) SELECT seq + 100, 'source', CONCAT('source ', seq % 90) FROM seq_1_to_20000;
ANALYZE TABLE wp_posts, wp_comments, wp_term_relationships, wp_postmeta, wp_users;
