SET FOREIGN_KEY_CHECKS = 0;
INSERT INTO auth_user (id, username, password, is_superuser, first_name, last_name, email, is_staff, is_active, date_joined)
  SELECT seq, CONCAT('user', seq), '!', 0, 'U', CONCAT('Ser ', seq), CONCAT('user', seq, '@field.example'), 0, 1, NOW() FROM seq_1_to_100;
INSERT INTO hyperkitty_mailinglist (id, name, list_id, display_name, description, subject_prefix, archive_policy, created_at, archive_rendering_mode)
  SELECT seq, CONCAT(ELT(seq, 'dev', 'users', 'announce', 'docs'), '@field.example'), CONCAT(ELT(seq, 'dev', 'users', 'announce', 'docs'), '.field.example'),
    ELT(seq, 'Dev', 'Users', 'Announce', 'Docs'), 'A list', '[list] ', 2, NOW() - INTERVAL 1200 DAY, 'text' FROM seq_1_to_4;
INSERT INTO hyperkitty_sender (address, mailman_id)
  SELECT CONCAT('person', seq, '@field.example'), REPLACE(UUID(), '-', '') FROM seq_1_to_2000;
INSERT INTO hyperkitty_thread (id, mailinglist_id, thread_id, date_active)
  SELECT seq, ELT(1 + seq % 8, 1, 1, 1, 1, 2, 2, 3, 4), UPPER(MD5(CONCAT('t', seq))), NOW(6) FROM seq_1_to_4000;
-- Threads begin over three years, the last two days ago; a thread has 1 to 14 mails, three hours apart.
INSERT INTO hyperkitty_email (mailinglist_id, message_id, message_id_hash, sender_id, sender_name, subject, content, date, timezone, parent_id, thread_id,
    archived_date, thread_depth, thread_order, in_reply_to)
  SELECT t.mailinglist_id, CONCAT('m', t.id, '.', s.seq, '@field.example'), UPPER(MD5(CONCAT('m', t.id, '.', s.seq))),
    CONCAT('person', 1 + (t.id * 31 + s.seq * s.seq * 17) % 2000, '@field.example'),
    CONCAT('Person ', 1 + (t.id * 31 + s.seq * s.seq * 17) % 2000),
    CONCAT(IF(s.seq = 0, '', 'Re: '), 'Question ', t.id, ' about the ', ELT(1 + t.id % 5, 'build', 'release', 'manual', 'tests', 'roadmap')),
    CONCAT('On a day somebody wrote:\n', REPEAT(CONCAT('> words of mail ', t.id, ' that go on for a line or so\n'), 8), REPEAT('An answer with some lines of text.\n', 1 + (t.id + s.seq) % 30)),
    NOW(6) - INTERVAL (2880 + t.id * 400) MINUTE + INTERVAL s.seq * 180 MINUTE, 0, NULL, t.id, NOW(6), LEAST(s.seq, 5), s.seq,
    IF(s.seq = 0, NULL, CONCAT('m', t.id, '.0@field.example'))
  FROM hyperkitty_thread t JOIN seq_0_to_13 s ON s.seq <= (t.id * 7919) % 14;
UPDATE hyperkitty_email e JOIN hyperkitty_email f ON f.thread_id = e.thread_id AND f.thread_order = 0 SET e.parent_id = f.id WHERE e.thread_order > 0;
UPDATE hyperkitty_thread t JOIN (SELECT thread_id, MAX(date) d, MIN(id) first FROM hyperkitty_email GROUP BY thread_id) e ON e.thread_id = t.id
  SET t.date_active = e.d, t.starting_email_id = e.first;
UPDATE hyperkitty_thread t JOIN hyperkitty_email e ON e.thread_id = t.id AND e.thread_order = 0 SET t.starting_email_id = e.id;
INSERT INTO hyperkitty_vote (email_id, user_id, value)
  SELECT 1 + (seq * 13) % 28000, 1 + seq DIV 2154 * 7 + seq % 31, IF(seq % 5, 1, -1) FROM seq_1_to_6000;
SET FOREIGN_KEY_CHECKS = 1;
ANALYZE TABLE hyperkitty_email, hyperkitty_thread, hyperkitty_sender, hyperkitty_vote;
