-- 300 domains, 40,000 mailboxes with an alias each, 30,000 aliases more, 150,000 lines of the log, 40 administrators of 15 domains each, one of all.
SET NAMES utf8, @pw = '$1$fieldfie$2skBCb/2/jxM4Dn2o1T9p1';
INSERT INTO domain (domain, description, aliases, mailboxes, maxquota, quota, transport, backupmx, active, created, modified, password_expiry)
  SELECT CONCAT('d', seq, '.example'), CONCAT('Customer ', seq), 0, 0, 1024, 0, 'virtual', 0, 1, NOW() - INTERVAL seq HOUR, NOW() - INTERVAL seq HOUR, 365 FROM seq_1_to_300;
INSERT INTO admin (username, password, superadmin, active, created, modified)
  SELECT CONCAT('admin', seq, '@field.example'), @pw, seq = 1, 1, NOW(), NOW() FROM seq_1_to_41;
INSERT INTO domain_admins (username, domain, active, created) VALUES ('admin1@field.example', 'ALL', 1, NOW());
INSERT INTO domain_admins (username, domain, active, created)
  SELECT CONCAT('admin', a.seq, '@field.example'), CONCAT('d', (a.seq * 7 + d.seq * 20) % 300 + 1, '.example'), 1, NOW() FROM seq_2_to_41 a, seq_1_to_15 d;
-- Domains of three sizes: a tenth of them has half of the mailboxes.
CREATE TEMPORARY TABLE box SELECT seq AS n, CONCAT('d', IF(seq % 2, seq % 30, seq DIV 2 % 300) + 1, '.example') AS domain,
  CONCAT(ELT(seq % 8 + 1, 'anna', 'bert', 'carla', 'dieter', 'emil', 'frida', 'georg', 'hanna'), seq) AS local FROM seq_1_to_40000;
INSERT INTO mailbox (username, password, name, maildir, quota, local_part, domain, active, created, modified, phone, email_other, token, token_validity, password_expiry)
  SELECT CONCAT(local, '@', domain), @pw, CONCAT('Person ', n), CONCAT(domain, '/', local, '/'), 512 * 1024000, local, domain, n % 50 > 0, NOW() - INTERVAL n MINUTE,
    NOW() - INTERVAL n MINUTE, '', '', '', NOW(), NOW() + INTERVAL CAST(n % 400 AS SIGNED) - 20 DAY FROM box;
INSERT INTO alias (address, goto, domain, active, created, modified)
  SELECT CONCAT(local, '@', domain), CONCAT(local, '@', domain, IF(n % 9, '', ',archive@field.example')), domain, 1, NOW() - INTERVAL n MINUTE, NOW() - INTERVAL n MINUTE FROM box;
INSERT INTO alias (address, goto, domain, active, created, modified)
  SELECT CONCAT(ELT(n % 5 + 1, 'info', 'sales', 'support', 'team', 'list'), n, '@', domain), CONCAT(local, '@', domain, ',elsewhere', n, '@other.example'), domain, 1,
    NOW() - INTERVAL n MINUTE, NOW() - INTERVAL n MINUTE FROM box WHERE n <= 30000;
INSERT INTO alias_domain (alias_domain, target_domain, created, modified, active)
  SELECT CONCAT('d', 200 + seq, '.example'), CONCAT('d', seq, '.example'), NOW(), NOW(), 1 FROM seq_1_to_60;
INSERT INTO vacation (email, subject, body, cache, domain, created, active)
  SELECT username, 'Away', 'I am away until Monday.', '', domain, NOW(), 1 FROM mailbox WHERE created > NOW() - INTERVAL 2000 MINUTE;
INSERT INTO log (timestamp, username, domain, action, data)
  SELECT NOW() - INTERVAL seq MINUTE, CONCAT('admin', seq % 41 + 1, '@field.example (127.0.0.1)'), CONCAT('d', seq * 7 % 300 + 1, '.example'),
    ELT(seq % 4 + 1, 'edit_alias', 'create_mailbox', 'edit_mailbox', 'create_alias'), CONCAT('person', seq, '@d', seq * 7 % 300 + 1, '.example') FROM seq_1_to_150000;
ANALYZE TABLE alias, mailbox, domain, domain_admins, log;
