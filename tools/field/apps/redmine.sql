-- Rows for Redmine, made by MariaDB's sequences.
INSERT INTO projects (id, name, identifier, is_public, status, lft, rgt, created_on, updated_on)
  SELECT seq, CONCAT('Project ', seq), CONCAT('p', seq), 1, 1, seq * 2 - 1, seq * 2, NOW(), NOW() FROM seq_1_to_8;
INSERT INTO enabled_modules (project_id, name)
  SELECT seq, m FROM seq_1_to_8, (SELECT 'issue_tracking' m UNION SELECT 'gantt' UNION SELECT 'calendar' UNION SELECT 'news') x;
INSERT INTO projects_trackers (project_id, tracker_id) SELECT seq, t.id FROM seq_1_to_8, trackers t;
INSERT INTO users (id, login, firstname, lastname, status, type, language, created_on, updated_on)
  SELECT seq + 100, CONCAT('user', seq), CONCAT('First', seq), CONCAT('Last', seq), 1, 'User', 'en', NOW(), NOW() FROM seq_1_to_200;
INSERT INTO versions (id, project_id, name, created_on, updated_on) SELECT seq, seq % 8 + 1, CONCAT('v', seq), NOW(), NOW() FROM seq_1_to_40;
INSERT INTO issues (id, tracker_id, project_id, subject, description, status_id, priority_id, author_id, assigned_to_id,
    fixed_version_id, root_id, lft, rgt, start_date, due_date, created_on, updated_on)
  SELECT seq, (SELECT MIN(id) FROM trackers) + seq % 3, seq % 8 + 1, CONCAT('Something ', ELT(seq % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river'), ' ', seq),
    REPEAT('words of a description ', 20), (SELECT MIN(id) FROM issue_statuses) + seq % 4, (SELECT MIN(id) FROM enumerations WHERE type = 'IssuePriority') + seq % 3,
    101 + seq % 200, 101 + seq % 97, seq % 40 + 1, seq, 1, 2, CURDATE() - INTERVAL seq % 60 DAY, CURDATE() + INTERVAL seq % 30 DAY,
    NOW() - INTERVAL seq % 900 HOUR, NOW() - INTERVAL seq % 500 HOUR FROM seq_1_to_20000;
UPDATE issues i SET fixed_version_id = (SELECT MIN(v.id) FROM versions v WHERE v.project_id = i.project_id) WHERE id % 40 = 0;
UPDATE issues i SET fixed_version_id = NULL WHERE id % 40 <> 0;
INSERT INTO journals (journalized_id, journalized_type, user_id, notes, created_on)
  SELECT seq % 20000 + 1, 'Issue', 101 + seq % 200, CONCAT('A note about it ', seq), NOW() - INTERVAL seq % 700 HOUR FROM seq_1_to_60000;
INSERT INTO journals (journalized_id, journalized_type, user_id, notes, created_on)
  SELECT 4711, 'Issue', 101 + seq % 40, CONCAT('Another note ', seq), NOW() - INTERVAL seq HOUR FROM seq_1_to_60;
UPDATE users SET salt = 'field', hashed_password = SHA1(CONCAT('field', SHA1('fieldfield'))), must_change_passwd = 0 WHERE login = 'admin';
ANALYZE TABLE issues, journals, projects, users;
