-- 1,000 people who ask, 6,000 tickets with four role groups each, 30,000 transactions, 12,000 attachments.
SET @everyone = (SELECT id FROM `Groups` WHERE Domain = 'SystemInternal' AND Name = 'Everyone'), @unpriv = (SELECT id FROM `Groups` WHERE Domain = 'SystemInternal' AND Name = 'Unprivileged');
SET @nobody = (SELECT id FROM Users WHERE Name = 'Nobody'), @agent = (SELECT MIN(id) FROM Users WHERE Name LIKE 'agent%'), @now = UTC_TIMESTAMP();
INSERT INTO Principals (id, PrincipalType) SELECT 10000 + seq, 'User' FROM seq_1_to_1000;
INSERT INTO Users (id, Name, EmailAddress, RealName, Password, Creator, Created, LastUpdatedBy, LastUpdated)
  SELECT 10000 + seq, CONCAT('person', seq, '@example.org'), CONCAT('person', seq, '@example.org'), CONCAT('Person ', seq), '*NO-PASSWORD*', 1, @now, 1, @now FROM seq_1_to_1000;
INSERT INTO Principals (id, PrincipalType) SELECT 20000 + seq, 'Group' FROM seq_1_to_1000;
INSERT INTO `Groups` (id, Name, Description, Domain, Instance, Creator, Created, LastUpdatedBy, LastUpdated)
  SELECT 20000 + seq, 'UserEquiv', CONCAT('ACL equiv. for user ', 10000 + seq), 'ACLEquivalence', 10000 + seq, 1, @now, 1, @now FROM seq_1_to_1000;
INSERT INTO GroupMembers (GroupId, MemberId, Creator, Created, LastUpdatedBy, LastUpdated) SELECT g, m, 1, @now, 1, @now FROM (
  SELECT 20000 + seq AS g, 10000 + seq AS m FROM seq_1_to_1000 UNION ALL SELECT @everyone, 10000 + seq FROM seq_1_to_1000 UNION ALL SELECT @unpriv, 10000 + seq FROM seq_1_to_1000) x;
INSERT INTO CachedGroupMembers (GroupId, MemberId, ImmediateParentId) SELECT g, m, g FROM (
  SELECT 20000 + seq AS g, 20000 + seq AS m FROM seq_1_to_1000 UNION ALL SELECT 20000 + seq, 10000 + seq FROM seq_1_to_1000
  UNION ALL SELECT @everyone, 10000 + seq FROM seq_1_to_1000 UNION ALL SELECT @unpriv, 10000 + seq FROM seq_1_to_1000) x;
INSERT INTO Tickets (id, EffectiveId, Queue, Type, Owner, Subject, Priority, Status, Creator, Created, LastUpdatedBy, LastUpdated, Told, Started, Resolved)
  SELECT seq, seq, (SELECT id FROM Queues WHERE Name = ELT(seq % 4 + 1, 'General', 'Support', 'Network', 'Billing')), 'ticket', IF(seq % 3, @agent, @nobody),
    CONCAT(ELT(seq % 5 + 1, 'Printer does not print', 'Mail is late', 'Password forgotten', 'Network is slow', 'Invoice is wrong'), ' in room ', seq % 700), seq % 60,
    ELT(seq % 10 + 1, 'new', 'open', 'stalled', 'resolved', 'resolved', 'resolved', 'resolved', 'resolved', 'resolved', 'rejected'),
    10001 + seq % 1000, @now - INTERVAL 6000 - seq HOUR, @agent, @now - INTERVAL (6000 - seq) * 50 MINUTE, NULL, @now - INTERVAL 6000 - seq HOUR, IF(seq % 10 > 2, @now - INTERVAL (6000 - seq) * 50 MINUTE, NULL)
  FROM seq_1_to_6000;
INSERT INTO Principals (id, PrincipalType) SELECT 100000 + t.seq * 4 + r.seq, 'Group' FROM seq_1_to_6000 t, seq_0_to_3 r;
INSERT INTO `Groups` (id, Name, Domain, Instance, Creator, Created, LastUpdatedBy, LastUpdated)
  SELECT 100000 + t.seq * 4 + r.seq, ELT(r.seq + 1, 'Owner', 'Requestor', 'Cc', 'AdminCc'), 'RT::Ticket-Role', t.seq, 1, @now, 1, @now FROM seq_1_to_6000 t, seq_0_to_3 r;
INSERT INTO GroupMembers (GroupId, MemberId, Creator, Created, LastUpdatedBy, LastUpdated)
  SELECT 100000 + id * 4, Owner, 1, @now, 1, @now FROM Tickets UNION ALL SELECT 100001 + id * 4, Creator, 1, @now, 1, @now FROM Tickets;
INSERT INTO CachedGroupMembers (GroupId, MemberId, ImmediateParentId) SELECT g, m, g FROM (
  SELECT 100000 + t.seq * 4 + r.seq AS g, 100000 + t.seq * 4 + r.seq AS m FROM seq_1_to_6000 t, seq_0_to_3 r
  UNION ALL SELECT 100000 + id * 4, Owner FROM Tickets UNION ALL SELECT 100001 + id * 4, Creator FROM Tickets) x;
UPDATE CachedGroupMembers SET Via = id WHERE Via IS NULL;
INSERT INTO Transactions (id, ObjectType, ObjectId, Type, Field, OldValue, NewValue, Data, Creator, Created)
  SELECT 1000 + t.id * 5 + k.seq, 'RT::Ticket', t.id, ELT(k.seq + 1, 'Create', 'Status', 'Comment', 'Correspond', 'Status'), IF(k.seq IN (1, 4), 'Status', NULL), IF(k.seq IN (1, 4), 'new', NULL), IF(k.seq IN (1, 4), 'open', NULL),
    'No Subject', IF(k.seq, @agent, t.Creator), t.Created + INTERVAL k.seq * 9 MINUTE FROM Tickets t, seq_0_to_4 k;
INSERT INTO Attachments (TransactionId, Parent, Subject, ContentType, Content, Headers, Creator, Created)
  SELECT id, 0, 'a word', 'text/plain', REPEAT(CONCAT('It is so since yesterday, says number ', id, '. '), 12), 'Content-Type: text/plain; charset="utf-8"\n', Creator, Created FROM Transactions WHERE id > 1000 AND Type IN ('Create', 'Correspond');
ANALYZE TABLE Users, `Groups`, Principals, GroupMembers, CachedGroupMembers, Tickets, Transactions, Attachments;
