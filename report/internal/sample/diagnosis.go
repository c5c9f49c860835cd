package sample

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/mysql"
)

func between(from, to int) kasoku.Interval {
	return kasoku.Interval{From: time.Duration(from) * time.Second, To: time.Duration(to) * time.Second}
}

func key(source, name string) []kasoku.Key {
	return []kasoku.Key{{Host: "lab1", Source: source, Name: name}}
}

func diagnosis() *kasoku.Diagnosis {
	return &kasoku.Diagnosis{
		Verdict: "At 1,000 req/s only 30.5 % of requests succeed: the app opens a database connection per request and " +
			"MariaDB refuses all beyond 151.",
		Findings: []kasoku.Finding{pool01(), pool02(), drv01(), dbc01()},
		Silences: []kasoku.Silence{
			{ID: "POOL-03", Reason: "no run to hold it against", Blind: true},
			{ID: "HW-05", Reason: "the generator used 0.10 of 2 cores, the threshold is 1.8", Near: 0.06},
		},
		Rules: 75,
	}
}

func pool01() kasoku.Finding {
	return kasoku.Finding{
		ID: "POOL-01", Object: kasoku.Object{Kind: "pool", Name: "userapi"}, Severity: kasoku.Problem,
		Title:      "The app opens a new database connection for almost every request",
		Confidence: kasoku.Confidence{Level: kasoku.High, Holds: 5, Of: 5},
		Impact:     kasoku.Impact{Share: 0.695, Of: "of requests at 1,000 req/s", Shared: []string{"POOL-02"}},
		Evidence: []kasoku.Evidence{
			{Source: "status", Text: "Connections", Note: "14:02:39–14:02:49", Value: "+9,979", Number: 9979,
				Strong: true, Series: key("mysql", mysql.Connections), Interval: between(28, 39)},
			{Source: "status", Text: "accepted / refused / aborted", Value: "3,029 / 6,612 / 338"},
			{Source: "query", Text: "SET NAMES utf8mb4", Note: "one per accepted", Value: "3,029"},
			{Source: "vars", Text: "sql.DBStats.MaxIdleClosed", Value: "+3,029", Strong: true},
			{Source: "socket", Text: "TIME_WAIT to :3306", Note: "15 → 3,044", Value: "+3,029"},
		},
		Cause: "database/sql keeps 2 idle connections unless configured otherwise, and `SetMaxIdleConns` is not " +
			"called. At 1,000 req/s all others are closed after one use: 9,979 attempts for 10,000 requests, only 21 requests found an idle one.",
		Fixes: []kasoku.Fix{{
			Where: "main.go:31", Lang: "go", Risk: kasoku.RiskAppRestart,
			Code: "  db, err := sql.Open(\"mysql\", dsn)\n+ db.SetMaxOpenConns(100)\n+ db.SetMaxIdleConns(100)\n+ db.SetConnMaxIdleTime(5 * time.Minute)",
			Note: "100 leaves 51 of MariaDB’s 151 for other clients. Keep idle equal to open, else the surplus is closed again.",
		}},
		Expect: "69.5 % of requests at 1,000 req/s stop failing.",
		Verify: "Connections per request below 0.05 and no Error 1040 over the same ladder.", Interval: between(28, 39),
	}
}

func pool02() kasoku.Finding {
	return kasoku.Finding{
		ID: "POOL-02", Object: kasoku.Object{Kind: "variable", Name: "max_connections"}, Severity: kasoku.Problem,
		Title:      "MariaDB refuses connections at max_connections = 151",
		Confidence: kasoku.Confidence{Level: kasoku.High, Holds: 4, Of: 4},
		Impact:     kasoku.Impact{Share: 0.661, Of: "of requests at 1,000 req/s", Shared: []string{"POOL-01"}},
		Evidence: []kasoku.Evidence{
			{Source: "app.log", Text: "Error 1040: Too many connections", Note: "first 14:02:39.412", Value: "× 6,612",
				Number: 6612, Strong: true},
			{Source: "app.log", Text: "invalid connection", Note: "14:02:39.431", Value: "× 214"},
			{Source: "app.log", Text: "read: connection reset by peer", Note: "14:02:39.460", Value: "× 124"},
			{Source: "status", Text: mysql.ConnectionErrorsMaxConnections, Note: "0 → 6,612", Value: "+6,612",
				Strong: true, Series: key("mysql", mysql.ConnectionErrorsMaxConnections), Interval: between(28, 38)},
			{Source: "status", Text: mysql.MaxUsedConnections, Note: "151 + 1 reserved", Value: "152", Strong: true,
				Series: key("mysql", mysql.MaxUsedConnections), Interval: between(28, 38)},
			{Source: "access", Text: "POST /users 500", Note: "of 10,000", Value: "6,950", Interval: between(28, 38)},
		},
		Cause: "357 requests are in flight on average (1,000/s × 0.357 s); each wants its own connection, the server " +
			"allows 151. It answers the rest with Error 1040, which the app returns as 500.",
		Fixes: []kasoku.Fix{
			{Text: "Apply 1 first: with one app host and a cap of 100 the limit of 151 is enough. Raise it when a second " +
				"app host joins.", Risk: kasoku.RiskNone},
			{Where: "now, until the next restart", Lang: "sql", Code: "SET GLOBAL max_connections = 300;",
				Risk: kasoku.RiskNone},
			{Where: "60-kasoku.cnf", Lang: "ini",
				Code: "[mysqld]\nmax_connections = 300   # + 149 × 2.9 MB = 0.43 GB if all are busy",
				Risk: kasoku.RiskNone},
		},
		Verify:   "`Connection_errors_max_connections` +0 and `Max_used_connections` near 101 over the same ladder.",
		Interval: between(28, 38),
	}
}

func drv01() kasoku.Finding {
	return kasoku.Finding{
		ID: "DRV-01", Object: kasoku.Object{Kind: "table", Name: "users"}, Severity: kasoku.Problem,
		Title:      "Each INSERT is sent as prepare, execute, close",
		Confidence: kasoku.Confidence{Level: kasoku.High, Note: "prepare : execute = 1.00"},
		Impact:     kasoku.Impact{Share: 0.085, Of: "of latency at 100 req/s", Estimate: true},
		Evidence: []kasoku.Evidence{
			{Source: "status", Text: mysql.ComStmtPrepare, Value: "+4,150"}, {Source: "status",
				Text:  mysql.ComStmtExecute,
				Value: "+4,150"},
			{Source: "status", Text: mysql.ComStmtClose, Value: "+4,150"}, {Source: "dsn", Text: "interpolateParams",
				Note: "not set", Value: "false"},
		},
		Cause: "`db.Exec` with arguments prepares the statement on the server, runs it once and closes it: 2 round " +
			"trips where 1 would do. Cost at 100 req/s: 0.80 of 9.45 ms (estimate: access log minus slow log).",
		Fixes: []kasoku.Fix{{Where: "DSN", Risk: kasoku.RiskAppRestart,
			Note: "Safe with utf8mb4. Not with big5, cp932, gb2312, gbk or sjis.",
			Code: "- testuser:…@tcp(127.0.0.1:3306)/testdb?charset=utf8mb4&parseTime=True\n+ testuser:…@tcp(127.0.0.1:3306)/testdb?charset=utf8mb4&parseTime=True&interpolateParams=true"}},
		Expect: "0.80 of 9.45 ms at 100 req/s.", Verify: "`Com_stmt_prepare` +0.", Interval: between(2, 39),
	}
}

func dbc01() kasoku.Finding {
	return kasoku.Finding{
		ID: "DBC-01", Object: kasoku.Object{Kind: "variable", Name: "innodb_flush_log_at_trx_commit"},
		Severity:   kasoku.Problem,
		Title:      "Each INSERT waits for its own fsync",
		Confidence: kasoku.Confidence{Level: kasoku.Medium, Holds: 3, Of: 4, Note: "no iowait seen"},
		Impact:     kasoku.Impact{Share: 0.222, Of: "of latency at 100 req/s"},
		Evidence: []kasoku.Evidence{
			{Source: "status", Text: mysql.InnodbOSLogFsyncs, Note: "14:02:26–14:02:36", Value: "+1,003"},
			{Source: "status", Text: mysql.ComInsert, Value: "+1,000"},
			{Source: "disk", Text: "vda flush, mean", Note: "1,003 flushes", Value: "2.10 ms"},
			{Source: "var", Text: "innodb_flush_log_at_trx_commit", Value: "1"},
		},
		Cause: "Autocommit with `innodb_flush_log_at_trx_commit = 1` flushes the redo log once a commit. At 100 req/s " +
			"the flush takes 2.10 of 9.45 ms.",
		Fixes: []kasoku.Fix{{Where: "only if losing the last second at a crash is allowed", Lang: "sql",
			Code: "SET GLOBAL innodb_flush_log_at_trx_commit = 2;", Risk: kasoku.RiskDurability}},
		Expect: "2.10 of 9.45 ms at 100 req/s. Ranked last: it changes what a crash may lose.",
		Verify: "Fsyncs per commit below 0.1.", Interval: between(15, 25),
	}
}
