-- 12 groups, 600 hosts with 40 items and 4 triggers each; 240,000 values, 60,000 events, 3,000 open problems.
SET foreign_key_checks = 0;
INSERT INTO hstgrp (groupid, name, uuid) SELECT 9000 + seq, CONCAT('Rack ', seq), '' FROM seq_1_to_12;
INSERT INTO hosts (hostid, host, name, name_upper, status, description) SELECT 900000 + seq, CONCAT('node', seq), CONCAT('Node ', seq, ' ', ELT(seq % 3 + 1, 'web', 'db', 'cache')),
  UPPER(CONCAT('Node ', seq, ' ', ELT(seq % 3 + 1, 'web', 'db', 'cache'))), 0, '' FROM seq_1_to_600;
INSERT INTO hosts_groups (hostgroupid, hostid, groupid) SELECT 900000 + seq, 900000 + seq, 9001 + seq % 12 FROM seq_1_to_600;
INSERT INTO interface (interfaceid, hostid, main, type, ip, available) SELECT 900000 + seq, 900000 + seq, 1, 1, CONCAT('10.0.', seq DIV 250, '.', seq % 250), 1 FROM seq_1_to_600;
INSERT INTO host_tag (hosttagid, hostid, tag, value) SELECT 900000 + seq, 900000 + seq, 'role', ELT(seq % 3 + 1, 'web', 'db', 'cache') FROM seq_1_to_600;
INSERT INTO items (itemid, type, hostid, name, name_upper, key_, delay, value_type, interfaceid, params, description, posts, headers)
  SELECT 9000000 + h.seq * 100 + i.seq, 0, 900000 + h.seq, CONCAT('Metric ', ELT(i.seq % 4 + 1, 'cpu', 'memory', 'disk', 'net'), ' ', i.seq),
    UPPER(CONCAT('Metric ', ELT(i.seq % 4 + 1, 'cpu', 'memory', 'disk', 'net'), ' ', i.seq)), CONCAT('metric[', i.seq, ']'), '1m', 3, 900000 + h.seq, '', '', '', ''
  FROM seq_1_to_600 h, seq_1_to_40 i;
INSERT INTO item_rtdata (itemid) SELECT itemid FROM items WHERE itemid > 9000000;
INSERT INTO history_uint (itemid, clock, value, ns) SELECT i.itemid, UNIX_TIMESTAMP() - 60 * s.seq, s.seq * 7 % 100, 0 FROM items i, seq_1_to_10 s WHERE i.itemid > 9000000;
INSERT INTO triggers (triggerid, expression, description, status, value, priority, lastchange, comments)
  SELECT 900000 + seq, CONCAT('{', 900000 + seq, '}>90'), 'Metric is high on {HOST.NAME}', 0, seq % 5 = 0, seq % 5 + 1, UNIX_TIMESTAMP() - seq * 30, '' FROM seq_1_to_2400;
INSERT INTO functions (functionid, itemid, triggerid, name, parameter) SELECT 900000 + seq, 9000000 + (seq % 600 + 1) * 100 + seq DIV 600 + 1, 900000 + seq, 'last', '$' FROM seq_1_to_2400;
INSERT INTO events (eventid, source, object, objectid, clock, value, name, severity)
  SELECT seq, 0, 0, 900001 + seq % 2400, UNIX_TIMESTAMP() - seq * 20, seq % 2, CONCAT('Metric is high on Node ', seq % 600 + 1), seq % 5 + 1 FROM seq_1_to_60000;
INSERT INTO event_tag (eventtagid, eventid, tag, value) SELECT seq, seq, 'component', ELT(seq % 4 + 1, 'cpu', 'memory', 'disk', 'net') FROM seq_1_to_60000;
INSERT INTO problem (eventid, source, object, objectid, clock, name, severity)
  SELECT eventid, 0, 0, objectid, clock, name, severity FROM events WHERE value = 1 AND eventid <= 6000;
INSERT INTO problem_tag (problemtagid, eventid, tag, value) SELECT eventtagid, eventid, tag, value FROM event_tag WHERE eventid IN (SELECT eventid FROM problem);
ANALYZE TABLE hosts, items, history_uint, triggers, functions, events, event_tag, problem, problem_tag;
