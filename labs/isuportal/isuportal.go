// Package isuportal is a small contest portal, as the final of ISUCON10 had one: teams register,
// queue benchmark jobs and look at their dashboard, an audience looks at the ranking, and
// benchmarkers fetch jobs from a queue server, a process of its own.
//
//	CCH-01  the audience's ranking is computed for everyone anew
//	CCH-02  Varnish passes what has a cookie on
//	QRY-05  a clarification's team, leader and members are read one by one
//	QRY-07  each dashboard sums up all jobs of all teams
//	POOL-06 ten connections, which waiting benchmarkers hold
//	DRV-01  each statement is prepared, executed and closed
//	APP-01  five lines are logged for each request
//	CCH-04  the ranking is kept for longer than it may be old
//	LCK-03  a job is taken by SELECT … FOR UPDATE and UPDATE
//	LCK-04  a team is made under LOCK TABLES
//	APP-05  a constant allows ten teams
//	CCH-05  what was kept before /initialize is sent after it: the benchmark ends at its check
//
// Its other seeds have no rule, or none that speaks of them here, and are [kit.Lab.Controls]:
//
//	APP-06  each poll for notifications is a transaction that writes; alone half of the polls bring something
//	IDX-10  indexes that the author added, without a gain
//	CCH-04S the ranking is kept for the whole second that it may be old
//	NGX-09  nginx packs what it sends, without a gain
//
// [Lab] is the lab's table.
package isuportal

import (
	"context"
	"database/sql"
	_ "embed" // nginx.conf, dashboard.vcl
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/labs/kit"
)

//go:embed nginx.conf
var nginxConf string

//go:embed dashboard.vcl
var dashboardVCL string

// seeded without a rule that speaks of them, and the author's control.
var controls = []kit.Defect{
	{ID: "APP-06", Where: "service", About: "each poll for notifications is a transaction that writes"},
	{ID: "IDX-10", Where: "database", About: "indexes on contestants and jobs that bring nothing"},
	{ID: "CCH-04S", Where: "varnish", About: "the ranking is kept for the whole second that it may be old"},
	{ID: "NGX-09", Where: "nginx", About: "nginx packs what it sends"},
}

// Lab returns the lab's table.
func Lab() *kit.Lab {
	l := &kit.Lab{
		Name:  "isuportal",
		About: "a contest portal with its queue server: a ranking for everyone, long polls, notifications, a constant that caps",
		Defects: []kit.Defect{
			{ID: "CCH-01", Where: "varnish", About: "the ranking is computed for everyone", Object: `audience`,
				Brings: []string{"QRY-07"}},
			{ID: "CCH-02", Where: "varnish", About: "what has a cookie is passed on",
				Object: `audience|cache|cookie|varnish`,
				Brings: []string{"CCH-01", "QRY-07"}},
			{ID: "QRY-05", Where: "service", About: "a clarification's team, leader and members are read one by one",
				Object: `clarifications|teams|contestants`},
			{ID: "QRY-07", Where: "service", About: "each dashboard sums up all jobs",
				Object: `dashboard|benchmark_jobs`,
				Brings: []string{"QRY-01", "QRY-09", "IDX-01", "IDX-03", "IDX-04"}},
			// Who did not get a job keeps the lock of its row until the wait is over, and its report waits.
			{ID: "POOL-06", Where: "service", About: "waiting benchmarkers hold the ten connections",
				Brings: []string{"LCK-01"}},
			{ID: "DRV-01", Where: "service", About: "each statement is prepared, executed and closed"},
			{ID: "APP-01", Where: "service", About: "five lines are logged for each request"},
			{ID: "CCH-04", Where: "varnish", About: "the ranking is kept for longer than it may be old",
				Object: `audience`, Apart: "what is not kept, by CCH-01 and CCH-02, is not kept for too long"},
			{ID: "LCK-03", Where: "service", About: "a job is taken by SELECT ... FOR UPDATE and UPDATE",
				Object: `benchmark_jobs`, Brings: []string{"LCK-01"}},
			{ID: "LCK-04", Where: "service", About: "a team is made under LOCK TABLES", Object: `teams|contestants`},
			{ID: "APP-05", Where: "service", About: "a constant allows ten teams", Object: `registration/team`,
				Apart: "ten teams are too small a load to show the others"},
			{ID: "CCH-05", Where: "varnish", About: "what was kept before /initialize is sent after it",
				Object: `audience`, Apart: "the benchmark ends at its check, before the load that shows the others"},
		},
		Controls: controls,
		Args: func(d kit.Set, _ string) []string {
			return []string{"--skip-log-bin", "--innodb-flush-log-at-trx-commit=2"}
		},
		Fill: fillTables, Serve: serve, Beside: serveQueue,
		Load:  kit.Load{Contract: contract(), Least: 30 * time.Second}, // jobs add up, and the audience comes
		Pages: kit.Pages{Expvar: "/debug/vars", Status: "/status"},
		Nginx: func(d kit.Set) string { return kit.Without(nginxConf, d) },
		VCL:   func(d kit.Set) string { return kit.Without(dashboardVCL, d) },
		Story: story(),
	}
	l.Variants = append(ladder(l), steps(initial(l))...)
	return l
}

// ladder are the states that are held against each other.
func ladder(l *kit.Lab) []kit.Variant {
	return []kit.Variant{
		{Name: "initial", About: "as the contest handed it out", Defects: initial(l)},
		{Name: "author", About: "as the author's team had it at the end, with 60 teams",
			Defects: kit.Set{"QRY-05", "QRY-07", "POOL-06"}, Pool: 30},
		{Name: "tuned", About: "the ranking in memory, clarifications by one statement, 100 teams", Defects: kit.Set{}},
	}
}

// contract is what the contest's manual says: the audience's ranking may be a second old, nothing else.
func contract() []kasoku.Terms {
	second, fresh := time.Second, time.Duration(0)
	return []kasoku.Terms{{Route: "GET /api/audience/dashboard", Stale: &second}, {Route: "GET /api/contestant/*", Stale: &fresh},
		{Route: "GET /api/audience/teams", Stale: &fresh}, {Route: "GET /api/session", Stale: &fresh}}
}

// initial is all that the contest's own service had.
func initial(l *kit.Lab) kit.Set {
	return append(l.All(), "APP-05", "APP-06")
}

// Capacities: teams that may register.
const (
	cappedTeams = 10 // with APP-05
	authorTeams = 60
	tunedTeams  = 100
)

// capacityOf is how many teams may register.
func capacityOf(d kit.Set) int {
	switch {
	case d.Has("APP-05"):
		return cappedTeams
	case d.Has("QRY-07"):
		return authorTeams
	}
	return tunedTeams
}

var schema = []string{
	"DROP TABLE IF EXISTS contestants, teams, benchmark_jobs, clarifications, notifications, push_subscriptions, contest_config",
	`CREATE TABLE contestants (id VARCHAR(255) NOT NULL PRIMARY KEY, password VARCHAR(255) NOT NULL, team_id BIGINT,
	  name VARCHAR(255), student TINYINT NOT NULL DEFAULT 0, staff TINYINT NOT NULL DEFAULT 0,
	  created_at DATETIME(6) NOT NULL)`,
	`CREATE TABLE teams (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(255) NOT NULL,
	  leader_id VARCHAR(255) UNIQUE, email_address VARCHAR(255) NOT NULL, invite_token VARCHAR(255) NOT NULL,
	  withdrawn TINYINT NOT NULL DEFAULT 0, created_at DATETIME(6) NOT NULL)`,
	`CREATE TABLE benchmark_jobs (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, team_id BIGINT NOT NULL,
	  status INT NOT NULL, target_hostname VARCHAR(255) NOT NULL, handle VARCHAR(255), score_raw INT,
	  score_deduction INT,
	  reason VARCHAR(255), passed TINYINT, started_at DATETIME(6), finished_at DATETIME(6),
	  created_at DATETIME(6) NOT NULL, updated_at DATETIME(6) NOT NULL,
	  KEY by_team (team_id, id), KEY by_status (status, team_id, id), KEY by_finish (status, team_id, finished_at))`,
	`CREATE TABLE clarifications (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, team_id BIGINT NOT NULL,
	  disclosed TINYINT, question TEXT NOT NULL, answer TEXT, answered_at DATETIME(6),
	  created_at DATETIME(6) NOT NULL)`,
	`CREATE TABLE notifications (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, contestant_id VARCHAR(255) NOT NULL,
	  is_read TINYINT NOT NULL DEFAULT 0, encoded_message VARCHAR(255) NOT NULL, created_at DATETIME(6) NOT NULL,
	  KEY by_contestant (contestant_id, id))`,
	`CREATE TABLE push_subscriptions (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, contestant_id VARCHAR(255) NOT NULL,
	  endpoint VARCHAR(255) NOT NULL, p256dh VARCHAR(255) NOT NULL, auth VARCHAR(255) NOT NULL,
	  created_at DATETIME(6) NOT NULL, UNIQUE KEY by_contestant (contestant_id, endpoint))`,
	`CREATE TABLE contest_config (registration_open_at DATETIME(6) NOT NULL, contest_starts_at DATETIME(6) NOT NULL,
	  contest_freezes_at DATETIME(6) NOT NULL, contest_ends_at DATETIME(6) NOT NULL)`,
	"CREATE TABLE IF NOT EXISTS push_keys (id INT NOT NULL PRIMARY KEY, public VARCHAR(255) NOT NULL, private VARCHAR(255) NOT NULL)",
	"INSERT INTO contestants (id, password, name, staff, created_at) VALUES ('admin', 'admin', 'admin', 1, NOW(6))",
}

// fillTables makes the tables anew, which are empty but for the staff.
func fillTables(ctx context.Context, db *sql.DB, d kit.Set) error {
	all := schema
	switch {
	case d.Has("IDX-10"):
		all = append(all[:len(all):len(all)], "ALTER TABLE contestants ADD KEY by_team (team_id)",
			"ALTER TABLE benchmark_jobs ADD KEY by_creation (team_id, created_at)")
	case !d.Has("QRY-07"): // what is kept in memory is extended by what was reported last
		all = append(all[:len(all):len(all)], "ALTER TABLE benchmark_jobs ADD KEY by_time (finished_at)",
			"ALTER TABLE contestants ADD KEY by_team (team_id)")
	}
	for _, q := range all {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}
