-- 400 devices, 20,000 graphs, each with its data source of one value, 60,000 values of SNMP, a tree of all devices.
SET SESSION sql_mode = '';
UPDATE version SET cacti = '1.2.24';
UPDATE user_auth SET password = MD5('fieldfield'), must_change_password = '', password_change = '' WHERE username = 'admin';
INSERT INTO host (id, host_template_id, description, hostname, location, notes, snmp_sysDescr, snmp_sysName, status, total_polls, last_updated)
  SELECT seq + 10, 2, CONCAT('Device ', ELT(seq % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river'), ' ', seq), CONCAT('10.0.', seq DIV 200, '.', seq % 200),
    CONCAT('Hall ', seq % 20), '', 'Linux', CONCAT('device', seq), 3 - (seq % 20 = 0), 1000, NOW() FROM seq_1_to_400;
INSERT INTO graph_local (id, graph_template_id, host_id, snmp_query_id, snmp_index) SELECT seq + 100, 2 + seq % 30, 11 + seq % 400, 1, seq DIV 400
  FROM seq_1_to_20000;
INSERT INTO graph_templates_graph (local_graph_template_graph_id, local_graph_id, graph_template_id, title, title_cache, height, width)
  SELECT 1, id, graph_template_id, '|host_description| - Traffic', CONCAT('Device ', ELT(host_id % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river'), ' ',
    host_id, ' - Traffic - eth', snmp_index), 200, 700 FROM graph_local WHERE id > 100;
INSERT INTO data_local (id, data_template_id, host_id, snmp_query_id, snmp_index) SELECT id, 3 + id % 30, host_id, 1, snmp_index FROM graph_local WHERE id > 100;
INSERT INTO data_template_data (local_data_template_data_id, local_data_id, data_template_id, data_input_id, name, name_cache, data_source_path, active, rrd_step)
  SELECT 1, id, data_template_id, 1 + id % 10, '|host_description| - Traffic', CONCAT('Device ', ELT(host_id % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river'),
    ' ', host_id, ' - Traffic - eth', snmp_index), CONCAT('<path_rra>/device_', host_id, '_', id, '.rrd'), 'on', 300 FROM data_local WHERE id > 100;
INSERT INTO data_template_rrd (hash, local_data_template_rrd_id, local_data_id, data_template_id, data_source_name, rrd_heartbeat)
  SELECT '', 1, id, data_template_id, 'traffic_in', 600 FROM data_local WHERE id > 100;
INSERT INTO graph_templates_item (hash, local_graph_template_item_id, local_graph_id, graph_template_id, task_item_id, color_id, graph_type_id, sequence)
  SELECT '', 1, g.id, g.graph_template_id, r.id, 1 + s.seq, 4 + s.seq, s.seq FROM graph_local g JOIN data_template_rrd r ON r.local_data_id = g.id, seq_1_to_3 s
  WHERE g.id > 100;
INSERT INTO host_snmp_cache (host_id, snmp_query_id, field_name, field_value, snmp_index, oid)
  SELECT h.id, 1, ELT(s.seq % 3 + 1, 'ifDescr', 'ifName', 'ifAlias'), CONCAT('eth', s.seq DIV 3), s.seq DIV 3, CONCAT('.1.3.6.1.2.1.2.2.1.2.', s.seq)
  FROM host h, seq_0_to_149 s WHERE h.id > 10;
INSERT INTO graph_tree_items (graph_tree_id, parent, title, host_id, position) SELECT 1, 0, '', id, id FROM host WHERE id > 10;
INSERT INTO user_log (username, user_id, result, ip, time) SELECT CONCAT('user', seq % 50), 1, seq % 3, '10.0.0.1', NOW() - INTERVAL seq MINUTE FROM seq_1_to_20000;
ANALYZE TABLE host, graph_local, graph_templates_graph, data_local, data_template_data, data_template_rrd, graph_templates_item, host_snmp_cache, user_log;
