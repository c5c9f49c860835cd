package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/driver"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/diagnose/rules/measurement"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
)

// These tests run on recordings made by hand (build_test.go): edges that no
// recorded run shows. Runs that were recorded stand in testdata.

// fires checks that the rule speaks; object and title hold what is given.
func fires(t *testing.T, r diagnose.Rule, b *build, level kasoku.Level, part string) kasoku.Finding {
	t.Helper()
	found, silent := r.Check(b.alone())
	if len(found) == 0 {
		t.Errorf("silent: %+v", silent)
		return kasoku.Finding{}
	}
	f := found[0]
	if f.ID != r.ID() || f.Confidence.Level != level || !strings.Contains(f.Object.String()+" "+f.Title+" "+f.Cause+" "+f.Confidence.Note, part) {
		t.Errorf("%s %s, %q; confidence %+v; want %s and %q", f.ID, f.Object, f.Title, f.Confidence, level, part)
	}
	return f
}

// silent checks that the rule looked and does not speak, and how near it was.
func silent(t *testing.T, r diagnose.Rule, b *build, least, most float64, part string) {
	t.Helper()
	found, silent := r.Check(b.alone())
	if len(found) > 0 || len(silent) == 0 {
		t.Errorf("%s speaks: %+v", r.ID(), found)
		return
	}
	if s := silent[0]; s.ID != r.ID() || s.Blind || s.Near < least || s.Near > most || !strings.Contains(s.Reason, part) {
		t.Errorf("silence %+v, want near %v–%v and %q", s, least, most, part)
	}
}

// blind checks that the rule could not look.
func blind(t *testing.T, r diagnose.Rule, b *build, part string) {
	t.Helper()
	found, silent := r.Check(b.alone())
	if len(found) > 0 || len(silent) != 1 || !silent[0].Blind || silent[0].Near != 0 || !strings.Contains(silent[0].Reason, part) {
		t.Errorf("%d findings, silences %+v; want blind and %q", len(found), silent, part)
	}
}

// restart makes the server's counters begin anew in step 3.
func (b *build) restart() *build {
	return b.add(kasoku.Key{Source: diagnose.MySQL, Name: "Uptime"}, kasoku.Gauge, func(s int) float64 {
		if s >= 34 {
			return float64(s - 34)
		}
		return float64(1000 + s)
	})
}

func TestIdlePool(t *testing.T) {
	r := pool.IdlePool{}
	churn := func(n float64) *build {
		return ladder().counter("Connections", 0, 0, n).gauge("Threads_connected", 3, 3, 3, 20).
			add(waitingSockets, kasoku.Gauge, func(s int) float64 { return float64(s * 40) })
	}
	f := fires(t, r, churn(2000), kasoku.High, "opens 0.20 new")
	if !f.Impact.Estimate || f.Impact.Share < 0.005 || f.Impact.Share > 0.007 {
		t.Errorf("impact %+v, want 6,000 round trips of 0.1 ms in 10,000 requests of 0.1 s", f.Impact)
	}
	if len(f.Fixes) == 0 || !strings.Contains(f.Fixes[0].Code, "db.SetMaxOpenConns(100)\ndb.SetMaxIdleConns(100)") {
		t.Errorf("fixes %+v", f.Fixes)
	}
	fires(t, r, churn(9500), kasoku.High, "a new database connection for almost every request")
	fires(t, r, churn(21000), kasoku.High, "opens 2.10 new")
	silent(t, r, churn(990), 0.98, 0.999, "0.1")
	if f := fires(t, r, churn(1990), kasoku.High, "opens 0.20 new"); f.Severity != kasoku.Info || len(f.Explains) > 0 {
		t.Errorf("below its threshold it is %s, and explains %v", f.Severity, f.Explains)
	}
	// Those that could not log in are no use of a pool.
	silent(t, r, churn(9500).counter("Aborted_connects", 0, 0, 9400), 0.09, 0.11, "closed again were 0.01 per request")
	silent(t, r, ladder(), 0, 0, "0 connections were opened and closed again")
	// A pool that warms up opens many and keeps them.
	silent(t, r, ladder().counter("Connections", 0, 0, 2900).add(kasoku.Key{Source: diagnose.MySQL, Name: "Threads_connected"}, kasoku.Gauge,
		func(s int) float64 { return float64(10 + 290*min(max(s-29, 0), 10)) }), 0, 0, "0 connections")
	// Few connections, however many a request.
	few := ladder().counter("Connections", 0, 0, 19)
	for i := range few.Seconds {
		if s := &few.Seconds[i]; s.Step == 3 {
			s.Asked, s.Codes = 2, map[int]uint64{200: 2}
		}
	}
	silent(t, r, few, 0.94, 0.96, "the thresholds are 20 and 0.1")
	// Refused connections are not opened ones: a large idle pool at the limit.
	full := ladder().fail(3, 5000, 500, "500 Internal Server Error").counter("Connections", 0, 0, 151).counter("Connection_errors_max_connections", 0, 0, 5000)
	silent(t, r, full, 0.29, 0.31, "threshold is 0.1")

	fires(t, r, churn(3000).drop("sockets", "tcp.time_wait", "to 3306"), kasoku.Medium, "sockets were not recorded")
	fires(t, r, churn(3000).drop("sockets", "tcp.time_wait", "to 3306").drop(diagnose.MySQL, "Aborted_clients", ""), kasoku.Medium, "Aborted_clients was not recorded")
	fires(t, r, churn(3000).counter("Aborted_clients", 0, 0, 2900), kasoku.High, "the server cuts connections off")
	blind(t, r, churn(3000).drop(diagnose.MySQL, "", ""), "MariaDB was not recorded")
	blind(t, r, churn(3000).drop(diagnose.MySQL, "Connections", ""), "Connections was not recorded")
	blind(t, r, churn(3000).drop(diagnose.MySQL, "Threads_connected", ""), "Threads_connected")
	blind(t, r, churn(3000).restart(), "restarted at 14:02:45")
	b := churn(3000)
	b.Seconds = nil
	blind(t, r, b, "neither an access log nor a load")
	b.Seconds = ladder().Seconds
	b.accessLog().Seconds = nil
	fires(t, r, b, kasoku.High, "At 1,000 req/s")
	b.Steps = nil
	fires(t, r, b, kasoku.Medium, "no time without load follows")
}

func TestRefused(t *testing.T) {
	r := pool.Refused{}
	refuse := func(n float64) *build {
		return ladder().fail(3, int(n), 500, "500 Internal Server Error").counter("Connection_errors_max_connections", 0, 0, n).gauge("Threads_connected", 3, 3, 3, 151)
	}
	f := fires(t, r, refuse(500).said("error", "1040", "Error 1040: Too many connections", false, 500), kasoku.High, "variable max_connections MariaDB refuses connections at max_connections = 151")
	if f.Impact.Share != 0.05 || f.Impact.Estimate || f.Clause != "MariaDB refuses connections beyond 151" {
		t.Errorf("impact %+v, clause %q", f.Impact, f.Clause)
	}
	if len(f.Fixes) != 3 || !strings.Contains(f.Fixes[0].Text, "first") || f.Fixes[1].Code != "SET GLOBAL max_connections = 300;" || !strings.Contains(f.Fixes[1].Note, "149 more × 2.9 MiB = 434 MiB") {
		t.Errorf("fixes %+v", f.Fixes)
	}
	fires(t, r, refuse(10), kasoku.Medium, "no application log was recorded")
	fires(t, r, refuse(500).setting("version", "9.7.0"), kasoku.Medium, "MySQL refuses")
	// The application's word alone.
	fires(t, r, ladder().fail(3, 500, 500, "500").drop(diagnose.MySQL, "", "").said("error", "1040", "Error 1040: Too many connections", false, 500), kasoku.Medium, "was not recorded")
	// Full to the last connection, none refused.
	silent(t, r, ladder().gauge("Threads_connected", 3, 3, 3, 151), 1, 1, "151 of 151")
	silent(t, r, ladder().gauge("Threads_connected", 3, 3, 3, 150), 0.99, 0.999, "150 of 151")
	silent(t, r, ladder(), 0.05, 0.07, "9 of 151")
	// Refused at another step than the one looked at.
	silent(t, r, ladder().fail(1, 50, 500, "500").counter("Connection_errors_max_connections", 0, 0, 9), 0, 0.1, "no connection was refused")
	silent(t, r, ladder().drop(diagnose.MySQL, "", "").said("error", "", "something else", false, 9), 0, 0, "no Error 1040")
	blind(t, r, ladder().drop(diagnose.MySQL, "", ""), "MariaDB was not recorded")
	blind(t, r, refuse(500).restart(), "restarted")
}

func TestTwoLimits(t *testing.T) {
	r := pool.TwoLimits{}
	f := fires(t, r, story(), kasoku.High, "hide each other")
	if f.Severity != kasoku.Info {
		t.Errorf("severity %s", f.Severity)
	}
	silent(t, r, ladder(), 0, 0, "neither")
	silent(t, r, story().counter("Connections", 2, 20, 670), 0.9, 0.999, "only one limit is met: 6,612")
	b := story().counter("Connection_errors_max_connections", 0, 0, 0)
	b.Messages = nil
	silent(t, r, b, 0.9, 1, "none refused")
	blind(t, r, story().restart(), "restarted")
}

func TestPrepare(t *testing.T) {
	r := driver.Prepare{}
	prepare := func(prepares, executes, questions float64) *build {
		return ladder().counter("Com_stmt_prepare", 0, 0, prepares).counter("Com_stmt_close", 0, 0, prepares).
			counter("Com_stmt_execute", 0, 0, executes).counter("Questions", 0, 0, questions)
	}
	f := fires(t, r, prepare(10000, 10000, 10000), kasoku.High, "process the app Each INSERT is sent as prepare, execute, close")
	if f.Impact.Share != 0.01 || !f.Impact.Estimate || !strings.Contains(f.Fixes[0].Code, "interpolateParams=true") {
		t.Errorf("impact %+v, fixes %+v", f.Impact, f.Fixes)
	}
	fires(t, r, prepare(10000, 10000, 10000).counter("Com_select", 0, 0, 9000), kasoku.High, "Each statement")
	fires(t, r, prepare(10000, 10000, 10000).counter("Com_stmt_close", 0, 0, 0).gauge("Prepared_stmt_count", 0, 0, 0, 9000), kasoku.Medium, "stay prepared")
	fires(t, r, prepare(10000, 10000, 10000).drop(diagnose.MySQL, "Prepared_stmt_count", ""), kasoku.Medium, "Prepared_stmt_count")
	silent(t, r, prepare(5000, 10000, 10000), 1, 1, "0.50 times per execution")
	silent(t, r, prepare(4900, 10000, 10000), 0.97, 0.99, "0.49 times per execution")
	silent(t, r, prepare(1990, 1990, 10000), 0.99, 0.999, "19.9 % of the statements")
	silent(t, r, prepare(99, 99, 100), 0.98, 0.999, "executed 99 times")
	silent(t, r, prepare(50, 100000, 100000), 0, 0.01, "prepared")
	silent(t, r, ladder(), 0, 0, "executed 0 times")
	blind(t, r, ladder().drop(diagnose.MySQL, "Com_stmt_execute", ""), "Com_stmt_execute was not recorded")
	blind(t, r, prepare(9, 9, 9).restart(), "restarted")
}

func TestORMSave(t *testing.T) {
	r := driver.ORMSave{}
	counters := func(update, sel, insert, rows float64) *build {
		return ladder().counter("Com_update", 0, 0, update).counter("Com_select", 0, 0, sel).counter("Com_insert", 0, 0, insert).counter("Handler_update", 0, 0, rows)
	}
	trail := func(n, inserts uint64, b *build) *build {
		b.Saves = []kasoku.SaveShape{{Table: "parcels", Count: n, Inserts: inserts, Sample: []string{"UPDATE parcels SET a = ? WHERE id = ?", "SELECT 1", "INSERT INTO parcels VALUES (?)"}}}
		b.Queries = []kasoku.Query{{Calls: 30000}}
		return b
	}
	f := fires(t, r, trail(10000, 10000, counters(10000, 10000, 10000, 0).counter("Questions", 0, 0, 30000)), kasoku.High, "table parcels")
	if f.Fixes[0].Code != "INSERT INTO parcels VALUES (?)" || f.Impact.Share < 0.66 || f.Impact.Share > 0.67 {
		t.Errorf("fixes %+v, impact %+v", f.Fixes, f.Impact)
	}
	fires(t, r, trail(20, 40, ladder().drop(diagnose.MySQL, "", "")), kasoku.Low, "MariaDB was not recorded")
	silent(t, r, trail(19, 19, counters(19, 19, 19, 0)), 0.94, 0.96, "19 of 19 INSERTs into parcels")
	silent(t, r, trail(499, 1000, counters(499, 499, 1000, 0)), 0.99, 0.999, "499 of 1,000")
	// The counters alone, when sessions that were open before wrote nothing to
	// the slow log.
	fires(t, r, counters(1000, 1005, 1000, 0), kasoku.Medium, "the slow log does not hold the statements")
	// MySQL counts temporary tables in Handler_update.
	fires(t, r, counters(1000, 1005, 1000, 1200).counter("Innodb_rows_updated", 0, 0, 0).setting("version", "9.7.0"),
		kasoku.Low, "MySQL counts rows of temporary tables")
	silent(t, r, counters(1000, 1000, 1000, 0).counter("Innodb_rows_updated", 0, 0, 1000).setting("version", "9.7.0"),
		0, 0, "updated 1,000 rows")
	silent(t, r, counters(99, 110, 99, 0), 0.98, 0.999, "99 UPDATEs")
	silent(t, r, counters(1000, 1000, 1000, 1000), 0, 0, "updated 1,000 rows")
	silent(t, r, counters(1000, 1000, 600, 0), 0.8, 0.9, "600 INSERTs")
	// A slow log that holds all statements and shows no save is right.
	whole := counters(1000, 1000, 1000, 0)
	whole.Queries = []kasoku.Query{{Calls: 9000}}
	silent(t, r, whole, 0, 1, "UPDATEs")
	blind(t, r, ladder().drop(diagnose.MySQL, "", ""), "no slow log was recorded")
	blind(t, r, counters(1000, 1000, 1000, 0).restart(), "no slow log")
}

func TestSQLLog(t *testing.T) {
	r := driver.SQLLog{}
	const line = "[0.41ms] INSERT INTO parcels (id, sender, receiver, address) VALUES ('?', '?', '?', '?') RETURNING id, sender, receiver, address [1 rows]  -- and more, to make the line longer than the two hundred bytes that count as much"
	log := func(level, code, text string, n int) *build {
		return ladder().said(level, code, text, true, n).serves("77 shop").serves("9 mariadbd")
	}
	writes := kasoku.Key{Source: diagnose.Process, Name: "io.write_calls", Instance: "77 shop"}
	fires(t, r, log("info", "", line, 10000).counts(writes, 0, 0, 11000), kasoku.High, "log shop.log The app logs the text of every statement")
	fires(t, r, log("", "", line, 10000), kasoku.Medium, "write calls of the app were not recorded")
	fires(t, r, log("", "", line, 10000).counts(writes, 0, 0, 11), kasoku.Medium, "no process makes as many write calls")
	// The database's own writes are not the app's.
	db := writes
	db.Instance = "9 mariadbd"
	fires(t, r, log("", "", line, 10000).counts(db, 0, 0, 99999), kasoku.Medium, "write calls of the app were not recorded")
	// Without the server's counters a line is set against a request.
	fires(t, r, log("", "", line, 10000).drop(diagnose.MySQL, "", ""), kasoku.Low, "statements were not counted")
	silent(t, r, log("", "", line+line, 4900), 0.97, 0.99, "0.49 lines of SQL were logged per statement")
	silent(t, r, log("", "", line[:195], 10000), 0.97, 0.98, "195 bytes of SQL")
	silent(t, r, log("", "", line, 90), 0, 0.1, "90 lines")
	// Errors that quote their statement.
	silent(t, r, log("error", "", line, 10000), 0, 0, "0 lines")
	silent(t, r, log("", "1062", line, 10000), 0, 0, "0 lines")
	silent(t, r, ladder().said("info", "", "GET /a 200", false, 10000), 0, 0, "0 lines")
	blind(t, r, ladder(), "no application log was recorded")
	b := ladder()
	b.Logs = []kasoku.LogWindow{{Kind: "applog", Note: "missing"}}
	blind(t, r, b, "the application log gave nothing: missing")
	b.Logs = []kasoku.LogWindow{{Kind: "applog"}}
	silent(t, r, b, 0, 0, "0 lines")
	// It was made during the run and stayed empty.
	b.Logs = []kasoku.LogWindow{{Kind: "applog", Files: 1, Note: "appeared during the window"}}
	silent(t, r, b, 0, 0, "0 lines")
	b = log("", "", line, 10000)
	b.Seconds = nil
	blind(t, r, b, "neither an access log nor a load")
}

func TestRowCount(t *testing.T) {
	r := measurement.RowCount{}
	rows := func(before, after int64, successes uint64) *build {
		b := ladder()
		b.RowChecks = []kasoku.RowCheck{{Table: "parcels", Before: before, After: after, Successes: successes}}
		return b
	}
	fires(t, r, rows(5, 105, 101), kasoku.High, "Table parcels lacks 1 rows")
	fires(t, r, rows(0, 110, 100), kasoku.Medium, "more rows than failed requests explain")
	f := fires(t, r, &build{rows(0, 150, 100).fail(3, 100, 503, "503").Recording}, kasoku.High, "has 50 rows more")
	if f.Severity != kasoku.Problem || f.Impact.Share < 0.33 || f.Impact.Share > 0.34 {
		t.Errorf("%s, impact %+v", f.Severity, f.Impact)
	}
	silent(t, r, rows(5, 105, 100), 0, 0, "parcels 100 = 100")
	silent(t, r, rows(5, 5, 0), 0, 0, "parcels 0 = 0")
	// A failed request that left no row is as it should be.
	silent(t, r, &build{rows(0, 100, 100).fail(3, 1000, 503, "503").Recording}, 0, 0, "100 = 100")
	blind(t, r, ladder(), "rows of no table")

	// A foreign benchmark that stops leaves its last requests unanswered.
	stopped := func(failedAt int, code int) *build {
		b := rows(0, 108, 100)
		b.Seconds, b.Load, b.Steps = nil, nil, nil
		b.Endpoints = []kasoku.Endpoint{{Method: "POST", Route: "/parcels", Count: 108, Codes: map[int]uint64{200: 100, code: 8},
			Last: 9800 * time.Millisecond, Seconds: map[int]kasoku.EndpointSecond{2: {Count: 50}, 9: {Count: 50}}}}
		if code >= 500 {
			b.Endpoints[0].Seconds[failedAt] = kasoku.EndpointSecond{Count: 8, Failed: 8}
		}
		return b
	}
	for _, b := range []*build{stopped(9, 500), stopped(8, 500), stopped(9, 499)} {
		if f := fires(t, r, b, kasoku.High, "has 8 rows of requests that the client cut off"); f.Severity != kasoku.Info {
			t.Errorf("%s", f.Severity)
		}
	}
	if f := fires(t, r, stopped(4, 500), kasoku.High, "has 8 rows more"); f.Severity != kasoku.Problem {
		t.Errorf("in the middle of the load: %s", f.Severity)
	}
}

func TestRootMessage(t *testing.T) {
	r := measurement.RootMessage{}
	failing := func(n int) *build { return ladder().fail(3, n, 500, "500 Internal Server Error") }
	f := fires(t, r, failing(5000).said("error", "1205", "put: Error 1205: Lock wait timeout exceeded", false, 4900), kasoku.High, "Error 1205: Lock wait timeout exceeded")
	if f.Severity != kasoku.Info || f.Title != "Answers say only 500; the cause stands in the application's log" || f.Impact.Share != 0.49 {
		t.Errorf("%s %q, impact %+v", f.Severity, f.Title, f.Impact)
	}
	// An error number goes before a more frequent line.
	fires(t, r, failing(5000).said("error", "", "gave up: no answer", false, 5000).said("error", "1040", "Error 1040: Too many connections", false, 3000), kasoku.Medium, "Error 1040")
	fires(t, r, failing(5000).said("error", "", "gave up: no answer", false, 5000), kasoku.Medium, "gave up")
	// A line that repeats the status is no cause.
	fires(t, r, failing(5000).said("error", "", "PUT /orders 500 Internal Server Error", false, 5000).said("error", "", "gave up: no answer", false, 4000), kasoku.Medium, "gave up")
	silent(t, r, failing(5000).said("error", "1040", "Error 1040", false, 1490), 0.99, 0.999, "1,490 times for 5,000")
	silent(t, r, failing(5000).said("info", "", "all is well", false, 5000), 0, 0, "reports no error")
	silent(t, r, failing(90).said("error", "1040", "Error 1040", false, 90), 0.89, 0.91, "90 of 10,000")
	silent(t, r, ladder().said("error", "1040", "Error 1040", false, 90), 0, 0, "0 of 10,000")
	// The answer says it itself.
	silent(t, r, ladder().fail(3, 5000, 500, "500: Error 1040: Too many connections").said("error", "1040", "add: Error 1040: Too many connections", false, 5000), 0, 0, "the answers themselves say why")
	blind(t, r, failing(5000), "no application log")
	b := failing(5000)
	b.Seconds = nil
	blind(t, r, b, "no requests were counted")
	// By the access log alone.
	b = failing(5000).accessLog().said("error", "1040", "Error 1040: Too many connections", false, 4900)
	b.Seconds = nil
	fires(t, r, b, kasoku.High, "say only 500")
}

// TestRootMessage_Coincidence: answers of a proxy are no handler's, and a line that comes more
// often than the failures, or at other times, is not what they are about.
func TestRootMessage_Coincidence(t *testing.T) {
	r := measurement.RootMessage{}
	const duplicate = "add: Error 1062: Duplicate entry" // handled, as 409
	silent(t, r, ladder().fail(3, 200, 502, "502 Bad Gateway").said("error", "1062", duplicate, false, 300), 0, 0, "200 of 200 answers with 5xx are given in front")
	silent(t, r, ladder().fail(3, 200, 504, "504 Gateway Timeout").said("error", "1062", duplicate, false, 200), 0, 0, "in front")
	limited := ladder().fail(3, 200, 503, "503 Service Unavailable").said("error", "1062", duplicate, false, 200)
	fires(t, r, limited, kasoku.High, "Answers say only 503")
	limited.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "web", Role: kasoku.RoleWeb, Sure: kasoku.High}}}
	silent(t, r, limited, 0, 0, "in front")
	// By the access log alone; the answers of the handler count among those of the proxy.
	logged := ladder().fail(3, 200, 502, "502 Bad Gateway").accessLog().said("error", "1062", duplicate, false, 200)
	logged.Seconds = nil
	silent(t, r, logged, 0, 0, "in front")
	both := ladder().fail(3, 1000, 502, "502 Bad Gateway").fail(3, 500, 500, "500 Internal Server Error").accessLog().said("error", "1040", "Error 1040: Too many connections", false, 500)
	fires(t, r, both, kasoku.High, "500 requests were answered with 5xx")
	both.Seconds = nil
	fires(t, r, both, kasoku.High, "500 requests were answered with 5xx")

	failing := func(n int) *build { return ladder().fail(3, n, 500, "500 Internal Server Error") }
	silent(t, r, failing(200).said("error", "1062", duplicate, false, 310), 0, 0, "310 times for 200 answers with 5xx: it is logged of requests that succeed too")
	fires(t, r, failing(200).said("error", "1062", duplicate, false, 280), kasoku.Medium, "second by second the line does not come as often")
	early := failing(200).said("error", "1062", duplicate, false, 200)
	early.Messages[0].Seconds = map[int]uint64{29: 200}
	fires(t, r, early, kasoku.Medium, "second by second the line does not come as often")
}

func TestGenerator(t *testing.T) {
	r := host.Generator{}
	late := func(before time.Duration, own, others float64) *build {
		return ladder().latency(3, 100*time.Millisecond, before).cpu(own, others)
	}
	f := fires(t, r, late(60*time.Millisecond, 1.9, 0.05), kasoku.High, "process kasoku nethttp The load generator is the limit")
	if f.Impact.Share < 0.59 || f.Impact.Share > 0.61 || f.Impact.Estimate {
		t.Errorf("impact %+v", f.Impact)
	}
	fires(t, r, late(30*time.Millisecond, 1.0, 0.5), kasoku.Medium, "it had CPU left")
	silent(t, r, late(29*time.Millisecond, 1.9, 0.05), 0.95, 0.98, "29.0 % of the latency")
	silent(t, r, ladder(), 0, 0.1, "1.0 % of the latency")
	// Late because others take the CPU.
	silent(t, r, late(60*time.Millisecond, 0.4, 1.6), 0.2, 0.3, "it used 0.40 of 2 cores, all else on its host 1.60 of 2")
	// Late by no more than a timer is.
	silent(t, r, ladder().latency(3, 2*time.Millisecond, 900*time.Microsecond).cpu(1.9, 0.05), 0.89, 0.91, "0.90 ms on average")
	// At the cap of requests in flight the server is slow, unless the generator
	// is out of CPU.
	b := late(60*time.Millisecond, 1.7, 0.05)
	b.Load.PeakInFlight = b.Load.MaxInFlight
	silent(t, r, b, 0, 0, "10,000 requests in flight are the cap")
	b = late(60*time.Millisecond, 1.9, 0.05)
	b.Load.PeakInFlight = b.Load.MaxInFlight
	fires(t, r, b, kasoku.High, "The load generator is the limit")
	fires(t, r, late(60*time.Millisecond, 1.9, 0.05).drop(diagnose.Host, "", ""), kasoku.Medium, "the host's CPU was not recorded")
	b = late(60*time.Millisecond, 1.9, 0.05).drop(diagnose.Self, "", "")
	b.Load.PeakCores = 1.95
	fires(t, r, b, kasoku.High, "used 1.95 of 2 cores")
	b = ladder()
	b.Load = nil
	blind(t, r, b, "nothing is known of what made the load")
	b = ladder()
	b.Seconds = nil
	blind(t, r, b, "neither an access log nor a load")
}

// TestForeignGenerator: of a load that another program made, only its CPU is
// known.
func TestForeignGenerator(t *testing.T) {
	r := host.Generator{}
	foreign := func(user time.Duration, others float64) *build {
		b := ladder().accessLog().cpu(0, others+user.Seconds()/10)
		b.Load, b.Seconds = nil, nil
		b.Run.Command = &kasoku.Command{Args: []string{"/usr/bin/hammer", "-n", "9"}, Wall: 10 * time.Second, User: user}
		return b
	}
	fires(t, r, foreign(19*time.Second, 0.05), kasoku.Medium, "process hammer")
	silent(t, r, foreign(17*time.Second, 0.05), 0.9, 0.999, "not out of CPU")
	silent(t, r, foreign(5*time.Second, 1.5), 0, 0.5, "not out of CPU")
	b := foreign(0, 0.5)
	b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: "8 hammer"}, 0, 0, 1).counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.system", Instance: "8 hammer"}, 0, 0, 1)
	b.Run.Command.User = 2 * time.Second
	silent(t, r, b, 0.1, 0.12, "it used 0.20 of 2 cores")
	// Another's program of the same name is none of its own: all that the command used is less.
	b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: "99 hammer"}, 0, 0, 19).counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.system", Instance: "99 hammer"}, 0, 0, 0)
	silent(t, r, b, 0.1, 0.12, "it used 0.20 of 2 cores")
	b = foreign(0, 0.5)
	b.Run.Command.Wall = 0
	blind(t, r, b, "its CPU was not recorded")
}
