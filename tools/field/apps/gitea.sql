-- 20,000 issues in 12 repositories, 60,000 comments, 12 labels each, 500 users.
INSERT INTO user (id, lower_name, name, email, passwd, rands, salt, avatar, avatar_email, is_active, type, created_unix, updated_unix)
  SELECT seq + 1000, CONCAT('user', seq), CONCAT('user', seq), CONCAT('user', seq, '@example.com'), '', '', '', '', CONCAT('user', seq, '@example.com'),
    1, 0, UNIX_TIMESTAMP(), UNIX_TIMESTAMP() FROM seq_1_to_500;
INSERT INTO label (repo_id, name, description, color, created_unix, updated_unix)
  SELECT r.id, CONCAT('label ', seq), '', '#00aabb', UNIX_TIMESTAMP(), UNIX_TIMESTAMP() FROM repository r, seq_1_to_12;
INSERT INTO issue (id, repo_id, `index`, poster_id, original_author, original_author_id, name, content, milestone_id, priority, is_closed, is_pull,
    num_comments, ref, deadline_unix, created_unix, updated_unix, closed_unix)
  SELECT seq, (SELECT MIN(id) FROM repository) + seq % 12, seq DIV 12 + 1, 1001 + seq % 500, '', 0,
    CONCAT('Something ', ELT(seq % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river'), ' ', seq), REPEAT('words of a *description* ', 30), 0, 0, seq % 3 = 0, 0,
    3, '', 0, UNIX_TIMESTAMP() - seq * 60, UNIX_TIMESTAMP() - seq * 30, 0 FROM seq_1_to_20000;
INSERT INTO issue_index (group_id, max_index) SELECT repo_id, MAX(`index`) FROM issue GROUP BY repo_id
  ON DUPLICATE KEY UPDATE max_index = VALUES(max_index);
INSERT INTO comment (type, poster_id, original_author, original_author_id, issue_id, content, created_unix, updated_unix)
  SELECT 0, 1001 + seq % 500, '', 0, seq % 20000 + 1, CONCAT('A comment on **it** number ', seq), UNIX_TIMESTAMP() - seq, UNIX_TIMESTAMP() - seq FROM seq_1_to_60000;
INSERT INTO comment (type, poster_id, original_author, original_author_id, issue_id, content, created_unix, updated_unix)
  SELECT 0, 1001 + seq, '', 0, 1200, CONCAT('Another comment ', seq), UNIX_TIMESTAMP() - seq, UNIX_TIMESTAMP() - seq FROM seq_1_to_90;
INSERT INTO issue_label (issue_id, label_id)
  SELECT i.id, (SELECT MIN(l.id) FROM label l WHERE l.repo_id = i.repo_id) + (i.id DIV 12) % 12 FROM issue i;
INSERT INTO issue_assignees (assignee_id, issue_id) SELECT 1001 + id % 40, id FROM issue WHERE id % 2 = 0;
INSERT INTO action (user_id, op_type, act_user_id, repo_id, comment_id, is_deleted, ref_name, is_private, content, created_unix)
  SELECT IF(seq % 2, 1, 1001 + seq % 500), 6, 1001 + seq % 500, (SELECT MIN(id) FROM repository) + seq % 12, 0, 0, '', 0, CONCAT(seq % 1600 + 1, '|Something'),
    UNIX_TIMESTAMP() - seq * 20 FROM seq_1_to_40000;
UPDATE repository r SET num_issues = (SELECT COUNT(*) FROM issue WHERE repo_id = r.id), num_closed_issues = (SELECT COUNT(*) FROM issue WHERE repo_id = r.id AND is_closed);
ANALYZE TABLE issue, comment, issue_label, action, user;
