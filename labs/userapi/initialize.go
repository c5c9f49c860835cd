package userapi

import (
	"context"
	"fmt"
)

// seedUsers is how many users there are after initialise.
const seedUsers = 200

// initialize puts the tables back to what a benchmark begins with.
func (s *store) initialize(ctx context.Context, d Defects) error {
	// TRUNCATE keeps the table with all its indexes.
	steps := []string{"TRUNCATE TABLE users"}
	if d.Has("IDX-08") {
		steps = []string{"DROP TABLE IF EXISTS users", CreateTable}
	}
	steps = append(steps, fmt.Sprintf("INSERT INTO users (id, name, mail) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "+
		"SELECT CONCAT('seed-', i), CONCAT('ユーザー', i), CONCAT('seed-', i, '@example.com') FROM n", seedUsers))
	if d.Has("OPS-02") {
		steps = append(steps, slowSteps()...)
	}
	for _, q := range steps {
		if _, err := s.db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%.40s: %w", q, err)
		}
	}
	n, err := s.countRows(ctx)
	s.count.Store(n)
	return err
}

// users returns how many users there are; with OPS-09 what initialise counted
// and was added since.
func (s *store) users(ctx context.Context) (int64, error) {
	if s.cached {
		return s.count.Load(), nil
	}
	return s.countRows(ctx)
}

func (s *store) countRows(ctx context.Context) (n int64, err error) {
	if err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM users").Scan(&n); err != nil {
		return 0, fmt.Errorf("count users: %w", err)
	}
	return n, nil
}

// The table of OPS-02: wide rows, so that each statement over all of them is slow.
const (
	slowBuckets = 60
	slowRows    = 9990 // ten times what the depth of recursion allows that both servers have by default, 1,000
)

// slowSteps is what an initialise does that loads first and alters afterwards.
func slowSteps() []string {
	steps := []string{
		"DROP TABLE IF EXISTS conditions",
		"CREATE TABLE conditions (id INT NOT NULL PRIMARY KEY AUTO_INCREMENT, memo VARCHAR(4096) NOT NULL) CHARACTER SET utf8mb4",
		fmt.Sprintf("INSERT INTO conditions (memo) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "+
			"SELECT REPEAT('m', 1500) FROM n CROSS JOIN (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 "+
			"UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) AS digit",
			slowRows/10),
		"ALTER TABLE conditions ADD COLUMN bucket INT NOT NULL DEFAULT 0, FORCE",
	}
	for k := range slowBuckets {
		steps = append(steps, fmt.Sprintf("UPDATE conditions SET bucket = %d WHERE id %% %d = %d", k, slowBuckets, k))
	}
	return append(steps, "ALTER TABLE conditions ADD INDEX bucket_id (bucket, id)")
}
