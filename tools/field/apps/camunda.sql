-- What differs: groups, customers, amounts, names, times. seq is the end of each id.
CREATE TEMPORARY TABLE n (id VARCHAR(64) CHARACTER SET utf8mb4 PRIMARY KEY, seq INT NOT NULL);
INSERT INTO n SELECT ID_, CAST(CONV(RIGHT(ID_, 12), 16, 10) AS INT) FROM ACT_HI_PROCINST WHERE CONV(RIGHT(ID_, 12), 16, 10) BETWEEN 1 AND 60000;
UPDATE ACT_HI_PROCINST p JOIN n ON n.id = p.ID_ SET BUSINESS_KEY_ = CONCAT('I-', n.seq), START_TIME_ = NOW(3) - INTERVAL (60000 - n.seq) * 30 SECOND,
  END_TIME_ = IF(END_TIME_ IS NULL, NULL, NOW(3) - INTERVAL (60000 - n.seq) * 29 SECOND), DURATION_ = IF(END_TIME_ IS NULL, NULL, (60000 - n.seq) * 1000),
  START_USER_ID_ = CONCAT('user', n.seq % 50);
UPDATE ACT_RU_EXECUTION e JOIN n ON n.id = e.ID_ SET BUSINESS_KEY_ = CONCAT('I-', n.seq);
UPDATE ACT_RU_TASK t JOIN n ON n.id = t.PROC_INST_ID_ SET CREATE_TIME_ = NOW(3) - INTERVAL (60000 - n.seq) * 30 SECOND,
  DUE_DATE_ = NOW() + INTERVAL n.seq % 20000 MINUTE, PRIORITY_ = n.seq % 5 * 25, ASSIGNEE_ = IF(n.seq % 3 = 0, CONCAT('user', n.seq % 50), NULL),
  NAME_ = CONCAT(NAME_, ' ', ELT(n.seq % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river'));
UPDATE ACT_HI_TASKINST t JOIN n ON n.id = t.PROC_INST_ID_ SET START_TIME_ = NOW(3) - INTERVAL (60000 - n.seq) * 30 SECOND,
  END_TIME_ = IF(END_TIME_ IS NULL, NULL, NOW(3) - INTERVAL (60000 - n.seq) * 29 SECOND), ASSIGNEE_ = CONCAT('user', n.seq % 50),
  NAME_ = CONCAT(NAME_, ' ', ELT(n.seq % 5 + 1, 'copper', 'stone', 'paper', 'light', 'river'));
UPDATE ACT_HI_ACTINST a JOIN n ON n.id = a.PROC_INST_ID_ SET START_TIME_ = NOW(3) - INTERVAL (60000 - n.seq) * 30 SECOND,
  END_TIME_ = IF(END_TIME_ IS NULL, NULL, NOW(3) - INTERVAL (60000 - n.seq) * 29 SECOND);
UPDATE ACT_RU_IDENTITYLINK l JOIN ACT_RU_TASK t ON t.ID_ = l.TASK_ID_ JOIN n ON n.id = t.PROC_INST_ID_
  SET GROUP_ID_ = ELT(n.seq % 8 + 1, 'accounting', 'management', 'sales', 'support', 'audit', 'export', 'legal', 'works');
UPDATE ACT_RU_VARIABLE v JOIN n ON n.id = v.PROC_INST_ID_ SET TEXT_ = CASE NAME_ WHEN 'customer' THEN CONCAT('customer ', n.seq % 1000)
  WHEN 'group' THEN ELT(n.seq % 8 + 1, 'accounting', 'management', 'sales', 'support', 'audit', 'export', 'legal', 'works') ELSE n.seq END,
  LONG_ = IF(NAME_ = 'amount', n.seq, LONG_);
UPDATE ACT_HI_VARINST v JOIN n ON n.id = v.PROC_INST_ID_ SET TEXT_ = IF(NAME_ = 'customer', CONCAT('customer ', n.seq % 1000), IF(NAME_ = 'amount', n.seq, TEXT_)),
  LONG_ = IF(NAME_ = 'amount', n.seq, LONG_);
ANALYZE TABLE ACT_RU_EXECUTION, ACT_RU_TASK, ACT_RU_VARIABLE, ACT_RU_IDENTITYLINK, ACT_HI_PROCINST, ACT_HI_TASKINST, ACT_HI_ACTINST, ACT_HI_VARINST, ACT_HI_DETAIL;
