-- 40 readers, each with 6 categories, 60 feeds and 5,000 of 40,000 articles, 500 unread; tags, labels, enclosures.
SET foreign_key_checks = 0;
UPDATE ttrss_prefs SET def_value = 'true' WHERE pref_name = 'ENABLE_API_ACCESS';
INSERT INTO ttrss_users (id, login, pwd_hash, access_level, email) SELECT 100 + seq, CONCAT('reader', seq), 'SHA1:5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8', 0,
  CONCAT('reader', seq, '@example.com') FROM seq_1_to_40;
INSERT INTO ttrss_user_prefs (owner_uid, pref_name, value, profile) SELECT u.id, p.pref_name, p.def_value, NULL FROM ttrss_users u, ttrss_prefs p WHERE u.id > 100;
INSERT INTO ttrss_feed_categories (id, owner_uid, title, order_id) SELECT 1000 + u.seq * 10 + c.seq, 100 + u.seq, CONCAT('Category ', c.seq), c.seq
  FROM seq_1_to_40 u, seq_1_to_6 c;
INSERT INTO ttrss_feeds (id, owner_uid, title, cat_id, feed_url, site_url, last_updated)
  SELECT 10000 + u.seq * 100 + f.seq, 100 + u.seq, CONCAT('Feed ', f.seq), 1000 + u.seq * 10 + f.seq % 6 + 1, CONCAT('http://feeds.example.com/', f.seq, '.xml'),
    CONCAT('http://site', f.seq, '.example.com/'), NOW() - INTERVAL f.seq MINUTE FROM seq_1_to_40 u, seq_1_to_60 f;
INSERT INTO ttrss_entries (id, title, guid, link, updated, content, content_hash, date_entered, date_updated, author)
  SELECT seq, CONCAT('Article ', seq, ' of ', ELT(seq % 5 + 1, 'copper', 'harbour', 'stone', 'river', 'wood'), ' and ', ELT(seq % 7 + 1, 'rain', 'wind', 'snow', 'sun', 'fog', 'hail', 'frost')),
    CONCAT('tag:example.com,', seq), CONCAT('http://site', seq % 60 + 1, '.example.com/', seq), NOW() - INTERVAL (40001 - seq) * 3 MINUTE,
    CONCAT('<p>', REPEAT(CONCAT('Some words about ', ELT(seq % 5 + 1, 'copper', 'harbour', 'stone', 'river', 'wood'), ' in number ', seq, ', written down for readers. '), 10 + seq % 30), '</p>'),
    SHA1(seq), NOW() - INTERVAL (40001 - seq) * 3 MINUTE, NOW(), CONCAT('Author ', seq % 300) FROM seq_1_to_40000;
INSERT INTO ttrss_user_entries (ref_id, uuid, feed_id, owner_uid, marked, published, tag_cache, label_cache, last_read, unread)
  SELECT e.seq, '', 10000 + u.seq * 100 + e.seq % 60 + 1, 100 + u.seq, e.seq % 100 < 2, e.seq % 400 < 4, '', '', NOW() - INTERVAL (40001 - e.seq) * 2 MINUTE, e.seq > 36000
  FROM seq_1_to_40000 e, seq_1_to_40 u WHERE (e.seq + u.seq) % 8 = 0;
INSERT INTO ttrss_tags (owner_uid, tag_name, post_int_id) SELECT owner_uid, CONCAT('topic', ref_id % 50), int_id FROM ttrss_user_entries WHERE ref_id % 3 = 0;
INSERT INTO ttrss_labels2 (id, owner_uid, caption) SELECT u.seq * 10 + l.seq, 100 + u.seq, CONCAT('Label ', l.seq) FROM seq_1_to_40 u, seq_1_to_3 l;
INSERT INTO ttrss_user_labels2 (label_id, article_id) SELECT (owner_uid - 100) * 10 + ref_id % 3 + 1, ref_id FROM ttrss_user_entries WHERE ref_id % 50 < 4;
INSERT INTO ttrss_enclosures (content_url, content_type, post_id, title, duration) SELECT CONCAT('http://media.example.com/', id, '.mp3'), 'audio/mpeg', id, '', '' FROM ttrss_entries WHERE id % 3 = 0;
INSERT INTO ttrss_access_keys (access_key, feed_id, is_cat, owner_uid) SELECT CONCAT('key', seq), '-2', 0, 100 + seq FROM seq_1_to_40;
ANALYZE TABLE ttrss_feeds, ttrss_entries, ttrss_user_entries, ttrss_tags, ttrss_labels2, ttrss_user_labels2, ttrss_enclosures;
