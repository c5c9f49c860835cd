-- 20,000 tickets of 30 developers, 8 components and 20 milestones, three in ten open; comments, statuses and owners
-- that changed; two custom fields; 3,000 wiki pages in three versions.
SET @now = UNIX_TIMESTAMP() * 1000000;
DELETE FROM component; DELETE FROM milestone; DELETE FROM version;
INSERT INTO component (name, owner, description) SELECT CONCAT('comp', seq), CONCAT('dev', seq), '' FROM seq_1_to_8;
INSERT INTO milestone (name, due, completed, description) SELECT CONCAT('ms', seq), @now + (CAST(seq AS SIGNED) - 14) * 2592000000000,
  IF(seq < 15, @now - (15 - seq) * 2592000000000, 0), CONCAT('What is to be in ', seq) FROM seq_1_to_20;
INSERT INTO version (name, time, description) SELECT CONCAT('v', seq), @now - (11 - seq) * 7776000000000, '' FROM seq_1_to_10;
INSERT INTO ticket (id, type, time, changetime, component, severity, priority, owner, reporter, cc, version, milestone, status, resolution, summary, description, keywords)
  SELECT seq, ELT(seq % 3 + 1, 'defect', 'enhancement', 'task'), @now - (20001 - seq) * 3600000000 * 2, @now - (20001 - seq) * 3600000000 * 2 + 1800000000,
    CONCAT('comp', seq % 8 + 1), NULL, ELT(seq % 5 + 1, 'blocker', 'critical', 'major', 'minor', 'trivial'), CONCAT('dev', seq % 30 + 1), CONCAT('user', seq % 500), '',
    CONCAT('v', seq % 10 + 1), CONCAT('ms', seq DIV 1000 + 1), IF(seq % 10 < 7, 'closed', ELT(seq % 3 + 1, 'new', 'assigned', 'accepted')), IF(seq % 10 < 7, 'fixed', ''),
    CONCAT('The ', ELT(seq % 7 + 1, 'engine', 'menu', 'import', 'report', 'login', 'cache', 'printer'), ' ', ELT(seq % 5 + 1, 'stops', 'is slow', 'loses rows', 'blinks', 'repeats'), ' in case ', seq),
    REPEAT(CONCAT('What was seen in case ', seq, ', and what was done before it with the ', ELT(seq % 7 + 1, 'engine', 'menu', 'import', 'report', 'login', 'cache', 'printer'), '. '), 3 + seq % 12),
    IF(seq % 4 = 0, 'regression', '') FROM seq_1_to_19999;
INSERT INTO ticket_change (ticket, time, author, field, oldvalue, newvalue)
  SELECT t.id, t.time + c.seq * 60000000, CONCAT('dev', (t.id + c.seq) % 30 + 1), 'comment', c.seq, CONCAT('Comment ', c.seq, ' on ', t.id, ': ', REPEAT('looked at again, and written down. ', 1 + t.id % 6)) FROM ticket t, seq_1_to_3 c;
INSERT INTO ticket_change (ticket, time, author, field, oldvalue, newvalue) SELECT id, time + 180000000, owner, 'status', 'new', 'closed' FROM ticket WHERE status = 'closed';
INSERT INTO ticket_change (ticket, time, author, field, oldvalue, newvalue) SELECT id, time + 60000000, owner, 'owner', '', owner FROM ticket;
INSERT INTO ticket_custom (ticket, name, value) SELECT id, 'customer', CONCAT('customer', id % 400) FROM ticket;
INSERT INTO ticket_custom (ticket, name, value) SELECT id, 'effort', id % 13 FROM ticket;
INSERT INTO wiki (name, version, time, author, text, comment, readonly) SELECT CONCAT('Notes', p.seq), v.seq, @now - (3001 - p.seq) * 7200000000 + v.seq * 60000000, CONCAT('dev', p.seq % 30 + 1),
  CONCAT('= Notes ', p.seq, ' =\n\n', REPEAT(CONCAT('What is known of the ', ELT(p.seq % 7 + 1, 'engine', 'menu', 'import', 'report', 'login', 'cache', 'printer'), ', see #', p.seq * 6, ' and Notes', p.seq % 3000 + 1, '.\n\n'), 5 + p.seq % 20)), '', 0
  FROM seq_1_to_3000 p, seq_1_to_3 v;
INSERT INTO session (sid, authenticated, last_visit) SELECT CONCAT('dev', seq), 1, @now DIV 1000000 FROM seq_1_to_30;
INSERT INTO session_attribute (sid, authenticated, name, value) SELECT CONCAT('dev', seq), 1, 'email', CONCAT('dev', seq, '@example.com') FROM seq_1_to_30;
DELETE FROM cache;
ANALYZE TABLE ticket, ticket_change, ticket_custom, wiki, session;
