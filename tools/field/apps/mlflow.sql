INSERT INTO experiments (name, artifact_location, lifecycle_stage, creation_time, last_update_time)
SELECT CONCAT('experiment-', seq), CONCAT('mlflow-artifacts:/', seq), 'active', 1790000000000 + seq * 1000, 1790000000000 + seq * 1000 FROM seq_1_to_30;
INSERT INTO runs (run_uuid, name, source_type, source_name, user_id, status, start_time, end_time, lifecycle_stage, artifact_uri, experiment_id)
SELECT MD5(CONCAT('run', seq)), CONCAT('run-', seq), 'LOCAL', 'train.py', CONCAT('user', seq % 25), ELT(1 + (seq % 17 = 0) + 2 * (seq % 41 = 0), 'FINISHED', 'FAILED', 'KILLED', 'KILLED'),
  1790000000000 + seq * 60000, 1790000040000 + seq * 60000, IF(seq % 50 = 0, 'deleted', 'active'), CONCAT('mlflow-artifacts:/', 1 + seq % 30, '/', MD5(CONCAT('run', seq)), '/artifacts'),
  (SELECT MIN(experiment_id) FROM experiments WHERE name LIKE 'experiment-%') + FLOOR(30 * POW(RAND(seq), 2)) FROM seq_1_to_20000;
INSERT INTO params (`key`, value, run_uuid)
SELECT ELT(k.seq, 'learning_rate', 'batch_size', 'optimizer', 'layers', 'dropout'),
  ELT(k.seq, ELT(1 + r.seq % 4, '0.1', '0.01', '0.001', '0.0001'), 16 << (r.seq % 5), ELT(1 + r.seq % 3, 'adam', 'sgd', 'lion'), 2 + r.seq % 12, CONCAT('0.', r.seq % 6)),
  MD5(CONCAT('run', r.seq)) FROM seq_1_to_20000 r, seq_1_to_5 k;
INSERT INTO tags (`key`, value, run_uuid)
SELECT ELT(k.seq, 'mlflow.runName', 'mlflow.user', 'mlflow.source.name', 'team'),
  ELT(k.seq, CONCAT('run-', r.seq), CONCAT('user', r.seq % 25), 'train.py', ELT(1 + r.seq % 7, 'vision', 'speech', 'search', 'ads', 'maps', 'health', 'robots')),
  MD5(CONCAT('run', r.seq)) FROM seq_1_to_20000 r, seq_1_to_4 k;
INSERT INTO metrics (`key`, value, timestamp, run_uuid, step)
SELECT ELT(k.seq, 'loss', 'accuracy', 'val_loss', 'val_accuracy'), IF(k.seq % 2, 2 - s.seq / 10 + RAND() / 5, s.seq / 6 + RAND() / 6), 1790000000000 + r.seq * 60000 + s.seq * 1000,
  MD5(CONCAT('run', r.seq)), s.seq FROM seq_1_to_20000 r, seq_1_to_4 k, seq_1_to_5 s;
INSERT INTO latest_metrics (`key`, value, timestamp, step, is_nan, run_uuid) SELECT `key`, value, timestamp, step, 0, run_uuid FROM metrics WHERE step = 5;
INSERT INTO registered_models (name, creation_time, last_updated_time, description)
SELECT CONCAT('model-', seq), 1790000000000 + seq * 1000, 1790000000000 + seq * 2000, REPEAT('A model of the field. ', 10) FROM seq_1_to_600;
INSERT INTO model_versions (name, version, creation_time, last_updated_time, description, user_id, current_stage, source, run_id, status)
SELECT CONCAT('model-', m.seq), v.seq, 1790000000000 + v.seq * 1000, 1790000000000 + v.seq * 2000, '', 'user1', 'None', CONCAT('mlflow-artifacts:/', v.seq), MD5(CONCAT('run', 10 * m.seq + v.seq)), 'READY'
FROM seq_1_to_600 m, seq_1_to_10 v;
INSERT INTO registered_model_tags (`key`, value, name) SELECT 'team', ELT(1 + seq % 4, 'vision', 'speech', 'search', 'ads'), CONCAT('model-', seq) FROM seq_1_to_600;
INSERT INTO model_version_tags (`key`, value, name, version) SELECT 'checked', 'yes', CONCAT('model-', m.seq), v.seq FROM seq_1_to_600 m, seq_1_to_10 v;
ANALYZE TABLE experiments, runs, params, tags, metrics, latest_metrics, registered_models, model_versions, registered_model_tags, model_version_tags;
