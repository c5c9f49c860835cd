package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/index"
	"github.com/kasoku/kasoku/diagnose/rules/operation"
)

// said checks a rule on a hand-made recording and returns all that it says.
func said(t *testing.T, r diagnose.Rule, b *build, want ...string) string {
	t.Helper()
	found, silent := r.Check(b.alone())
	text := text(&kasoku.Diagnosis{Findings: found, Silences: silent})
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
	return text
}

func (b *build) table(kind, name, keys string) *build {
	b.Configs = append(b.Configs, kasoku.Config{Kind: kind, Name: name,
		Text: "CREATE TABLE `t` (\n  `id` int NOT NULL COMMENT 'KEY `fake` (`x`)',\n  PRIMARY KEY (`id`)" + keys + "\n) ENGINE=InnoDB\n"})
	return b
}

func TestLostIndex(t *testing.T) {
	const a, b = ",\n  KEY `a` (`x`)", ",\n  KEY `b` (`y`)"
	said(t, index.LostIndex{}, ladder(), "IDX-08 blind")
	said(t, index.LostIndex{}, ladder().table("schema", "s.t", a), "IDX-08 blind")
	said(t, index.LostIndex{}, ladder().table("schema", "s.t", a).table("schema-after", "s.t", a+b), "no index is gone, of 1 in 1 tables")
	// A table that is gone is another matter.
	said(t, index.LostIndex{}, ladder().table("schema", "s.t", a).table("schema", "s.u", b).table("schema-after", "s.t", a), "no index is gone, of 2 in 2 tables")
	lost := ladder().table("schema", "s.t", a+b).table("schema-after", "s.t", "")
	said(t, index.LostIndex{}, lost, "2 indexes of s.t are lost on initialize", "table s.t", "confidence low, 1 of 3", "no initialize was seen in the run",
		"+  KEY `a` (`x`),\n      +  KEY `b` (`y`),", "(TRUNCATE TABLE) instead of dropping it", "deletes all rows")
	lost.Phases = []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Interval: kasoku.Interval{From: time.Second, To: 2 * time.Second}, Why: "POST /reset, 1 request, 9 ms"}}
	lost.Queries = []kasoku.Query{{Verb: "DROP", Fingerprint: "drop table if exists t", Sample: "DROP TABLE IF EXISTS t", Calls: 1}}
	said(t, index.LostIndex{}, lost, "confidence high, 3 of 3", "DROP TABLE IF EXISTS t", "POST /reset")
	// Of the probes, when the run itself saw nothing.
	probed := ladder()
	for at, facts := range map[string]map[string]string{
		diagnose.AtStart:         {"index s.t.PRIMARY": "unique (id)", "index s.t.a": "(x)", "index s.t.u": "unique (y)"},
		diagnose.AfterInitialize: {"index s.t.PRIMARY": "unique (id)", "index s.t.u": "unique (y)"},
	} {
		probed.Configs = append(probed.Configs, diagnose.Probe{At: at, Facts: facts}.Config())
	}
	said(t, index.LostIndex{}, probed, "Index a is lost on initialize", "KEY `a` (x)")
}

func (b *build) line(sample string, seconds map[int]uint64) *build {
	m := kasoku.Message{Path: "/var/log/app.log", Sample: sample, Pattern: sample, Seconds: seconds}
	for s, n := range seconds {
		m.Count += n
		m.Last = max(m.Last, time.Duration(s)*time.Second)
	}
	b.Messages = append(b.Messages, m)
	return b
}

func TestStartLimit(t *testing.T) {
	const exit, refused = "systemd[1]: shop.service: Main process exited, code=exited, status=1/FAILURE", "dial tcp 10.0.0.5:3306: connect: connection refused"
	said(t, operation.StartLimit{}, ladder(), "OPS-01 blind")
	said(t, operation.StartLimit{}, ladder().line("all is well", map[int]uint64{1: 5}), "no log says that a process ended")
	said(t, operation.StartLimit{}, ladder().line(refused, map[int]uint64{1: 5}), "connections were refused 5 times, and no process ended of it")
	said(t, operation.StartLimit{}, ladder().line(exit, map[int]uint64{1: 4}).line(refused, map[int]uint64{1: 4}), "OPS-01 0.80: at most 4 exits of a process in 10 s")
	said(t, operation.StartLimit{}, ladder().line(exit, map[int]uint64{1: 3, 20: 3}).line(refused, map[int]uint64{1: 6}), "OPS-01 0.60")
	said(t, operation.StartLimit{}, ladder().line(exit, map[int]uint64{1: 5}),
		"was refused a connection 0 times in 10 s of that: nothing says")
	said(t, operation.StartLimit{}, ladder().line(exit, map[int]uint64{1: 2, 5: 3}).line(refused, map[int]uint64{1: 5}),
		"Shop.service ends when it is refused a connection", "unit shop.service", "confidence medium, 2 of 3", "systemctl edit shop.service")
	said(t, operation.StartLimit{}, ladder().line(exit, map[int]uint64{1: 5}).line(refused, map[int]uint64{1: 5}).line("systemd[1]: shop.service: Start request repeated too quickly.", map[int]uint64{2: 1}),
		"Shop.service is given up after its start was refused", "confidence high, 3 of 3")
	hit := func(b *build) *build {
		b.Settings = append(b.Settings, kasoku.Setting{Scope: capture.ScopeUnit, Name: "shop",
			Value: "failed (start-limit-hit), 5 restarts"})
		return b
	}
	const cannot = "Can't connect to MySQL server on 'db' (111)"
	said(t, operation.StartLimit{}, hit(ladder().line(cannot, map[int]uint64{1: 2, 3: 3})), "Shop is given up",
		"failed (start-limit-hit), 5 restarts")
	// A unit may be given up for anything, and a refused connection be one of anyone's.
	said(t, operation.StartLimit{}, hit(ladder()), "OPS-01 0.50", "no log shows that a refused connection is why")
	said(t, operation.StartLimit{}, hit(ladder().line(cannot, map[int]uint64{1: 1})), "OPS-01 0.50")
	for _, b := range []*build{
		ladder().line(exit, map[int]uint64{1: 5}).line(refused, map[int]uint64{2: 1}),
		ladder().line(exit, map[int]uint64{1: 5}).line(refused, map[int]uint64{30: 9}),
		hit(ladder().line(exit, map[int]uint64{1: 5}).line(refused, map[int]uint64{2: 1})),
		ladder().line(exit, map[int]uint64{1: 3}).line(strings.ReplaceAll(exit, "shop", "mail"), map[int]uint64{2: 3}).
			line(refused, map[int]uint64{2: 6}),
	} {
		if found, _ := (operation.StartLimit{}).Check(b.alone()); len(found) > 0 {
			t.Errorf("%s: %+v", found[0].Title, found[0].Evidence)
		}
	}
	another := ladder().line(exit, map[int]uint64{1: 5}).line(refused, map[int]uint64{2: 6})
	another.Messages[1].Path = "another.log"
	said(t, operation.StartLimit{}, another, "OPS-01 0.50")
}

func (b *build) initialized(took time.Duration) *build {
	b.Endpoints = append(b.Endpoints, kasoku.Endpoint{Method: "POST", Route: "/initialize", Count: 1, Total: took, First: took, Last: took, Latency: spread(took, 1)})
	return b
}

func TestSlowInitialize(t *testing.T) {
	said(t, operation.SlowInitialize{}, ladder(), "OPS-02 blind")
	said(t, operation.SlowInitialize{}, ladder().initialized(23*time.Second), "OPS-02 0.96: initialize took 23.0 s of the 30.0 s that a contest allows")
	slow := ladder().initialized(27 * time.Second)
	said(t, operation.SlowInitialize{}, slow, "Initialize takes 27.0 s of the 30.0 s that it may", "endpoint POST /initialize", "was not recorded", "confidence medium, 1 of 2")
	query := func(verb, text string, calls uint64, total time.Duration) {
		slow.Queries = append(slow.Queries, kasoku.Query{Verb: verb, Fingerprint: text, Tables: []string{"s.t"}, Calls: calls, Total: total, First: 2 * time.Second, Last: 20 * time.Second})
	}
	query("SELECT", "select ?", 100, time.Second/10)
	query("ALTER", "alter table t add column c int", 1, 5*time.Second)
	query("CREATE", "create index i on t (c)", 1, 4*time.Second)
	query("UPDATE", "update t set c=? where g=?", 60, 12*time.Second)
	slow.Queries = append(slow.Queries, kasoku.Query{Verb: "UPDATE", Fingerprint: "update u", Calls: 99, Total: time.Minute, Last: 41 * time.Second})
	got := said(t, operation.SlowInitialize{}, slow, "confidence high, 2 of 2", "Changing tables that are already loaded takes 9,000 ms", "60 statements update one group of rows each and take 12.0 s",
		"update t set c=? where g=? | 60 times", "Update all groups of s.t in one statement", "each ALTER alone copies the rows")
	if strings.Contains(got, "update u") || strings.Contains(got, "select ?") {
		t.Errorf("names what is no part of it, or too little:\n%s", got)
	}
	slow.Settings = append(slow.Settings, kasoku.Setting{Scope: "app", Name: "initialize.limit", Value: "20s"})
	said(t, operation.SlowInitialize{}, slow, "Initialize takes 27.0 s, its limit is 20.0 s", "as initialize.limit says")
	// One statement of 0.7 s is not most of 27 s.
	part := ladder().initialized(27 * time.Second)
	part.Queries = []kasoku.Query{{Verb: "SELECT", Fingerprint: "select ?", Calls: 1, Total: 700 * time.Millisecond,
		First: 2 * time.Second, Last: 3 * time.Second}}
	got = said(t, operation.SlowInitialize{}, part, "The statements above take 700 ms of it; the rest is not in them")
	if strings.Contains(got, "Most of it") {
		t.Error(got)
	}
	part.Queries[0].Total = 20 * time.Second
	said(t, operation.SlowInitialize{}, part, "Most of it is in the statements above.")
	// The phases know its name; the log its length.
	phased := ladder()
	phased.Phases = []kasoku.Phase{{Kind: kasoku.PhaseInitialize, Interval: kasoku.Interval{From: time.Second, To: 29 * time.Second}, Why: "POST /reset, 1 request, 28 s"}}
	said(t, operation.SlowInitialize{}, phased, "endpoint POST /reset", "Initialize takes 28.0 s of")
	phased.Endpoints = []kasoku.Endpoint{{Method: "POST", Route: "/reset", Count: 1, Total: 10 * time.Second}}
	said(t, operation.SlowInitialize{}, phased, "initialize took 10.0 s of")
}

func (b *build) zone(name, value string) *build {
	b.Settings = append(b.Settings, kasoku.Setting{Scope: "clock", Name: name, Value: value})
	return b
}

func TestTimeZone(t *testing.T) {
	said(t, operation.TimeZone{}, ladder(), "OPS-03 blind")
	said(t, operation.TimeZone{}, ladder().zone("host", "+00:00"), "OPS-03 blind")
	said(t, operation.TimeZone{}, ladder().zone("host", "+09:00").zone("database", "+09:00").zone("/var/log/a.log", "+09:00"), "in the host's time zone, +09:00")
	said(t, operation.TimeZone{}, ladder().zone("host", "+00:00").zone("/var/log/a.log", "+00:00").zone("/var/log/a.log off by", "-12m0s"), "OPS-03 0.80: the times of a log are off by 12m0s")
	said(t, operation.TimeZone{}, ladder().zone("host", "+00:00").zone("/var/log/a.log", "+08:00").zone("database", "+00:00"),
		"The access log is in +08:00, the host in +00:00; put right here", "clock a.log", "info;", "times in a.log",
		"by its name: TZ", "semantics")
	for _, foreign := range []string{"", "+00:00"} { // of the database: none, or with the log
		b := ladder().zone("host", "+09:00").zone("/var/log/a.log", "+00:00").measured()
		if foreign != "" {
			b.zone("database", foreign)
		}
		nginx := &b.Service.Members[0]
		nginx.Logs, nginx.Unit = []string{"/var/log/a.log"}, "nginx.service"
		text := said(t, operation.TimeZone{}, b, "systemctl edit nginx.service", "What else the service writes")
		if strings.Contains(text, "set-timezone") || strings.Contains(text, "default_time_zone") != (foreign != "") {
			t.Errorf("the clock of all programs of the host is changed:\n%s", text)
		}
		nginx.Container = "4f1c"
		said(t, operation.TimeZone{}, b, "where the container of nginx is started")
	}
	said(t, operation.TimeZone{}, ladder().zone("host", "+00:00").zone("database", "+08:00").setting("system_time_zone", "CST").setting("time_zone", "SYSTEM"),
		"The database is in +08:00", "times of MariaDB, NOW()", "CST, SYSTEM", "by its name: default_time_zone", "timedatectl prints the name")
}

func TestNotRebuilt(t *testing.T) {
	probes := func(all map[string]string) *build {
		b := ladder()
		for at, answer := range all {
			b.Configs = append(b.Configs, diagnose.Probe{At: at, Facts: map[string]string{"answer GET http://127.0.0.1:80/top?n=5": answer, "rows s.t": "7"}}.Config())
		}
		return b
	}
	const init, restart, again = diagnose.AfterInitialize, diagnose.AfterRestart, diagnose.AfterReinitialize
	said(t, operation.NotRebuilt{}, ladder(), "OPS-09 blind")
	said(t, operation.NotRebuilt{}, probes(map[string]string{init: "a"}), "OPS-09 blind")
	said(t, operation.NotRebuilt{}, probes(map[string]string{init: "a", restart: "a", again: "a"}), "row counts 1, indexes 0, answers 1: all the same after a restart")
	said(t, operation.NotRebuilt{}, probes(map[string]string{init: "a", restart: "b", again: "a"}), "A restart changes an answer", "endpoint GET /top?n=5", "a → b", "not where the process starts")
	said(t, operation.NotRebuilt{}, probes(map[string]string{init: "a", restart: "a", again: "c"}), "Initialize after a restart changes an answer", "not by initialize")
	said(t, operation.NotRebuilt{}, probes(map[string]string{init: "a", restart: "b", again: "c"}), "Neither the start of the process nor initialize")
	said(t, operation.NotRebuilt{}, probes(map[string]string{diagnose.AtStart: "a", restart: "b"}), "confidence medium, 1 of 2", "initialize was not called")
	many := probes(map[string]string{restart: "a"})
	many.Configs = append(many.Configs, diagnose.Probe{At: init, Facts: map[string]string{
		"rows s.t": "7", "rows s.u": "5", "rows s.v": "6", "index s.u.i": "(x)", "answer GET http://127.0.0.1:80/top?n=5": "a"}}.Config())
	said(t, operation.NotRebuilt{}, many, "A restart changes 2 tables and an index", "5 → gone")
}

// TestLateRoutes: the limits of the contract hold for initialize and for other routes.
func TestLateRoutes(t *testing.T) {
	late := func(limit time.Duration, slow uint64) *build {
		b := ladder()
		e := kasoku.Endpoint{Method: "GET", Route: "/news", Count: 1000, Latency: spread(100*time.Millisecond, 1000-slow), Codes: map[int]uint64{200: 1000}}
		e.Latency.RecordN(3*time.Second, slow)
		b.Endpoints = append(b.Endpoints, e)
		terms := kasoku.Terms{Route: "GET /news", Limit: limit, Failure: "10 points"}
		b.Settings = append(b.Settings, terms.Settings()...)
		return b
	}
	said(t, operation.SlowInitialize{}, late(2*time.Second, 37), "GET /news takes longer than its limit, 2,000 ms",
		"37 of 1,000 answers of GET /news took longer than 2,000 ms, the slowest 3,000 ms. A failure costs: 10 points.", "confidence high")
	said(t, operation.SlowInitialize{}, late(2*time.Second, 9), "OPS-02 0.90: 9 of 1,000 answers of GET /news took longer than the 2,000 ms of [contract]")
	said(t, operation.SlowInitialize{}, late(4*time.Second, 37), "OPS-02 0.00: 0 of 1,000")
	said(t, operation.SlowInitialize{}, late(0, 37), "OPS-02 blind")
	b := ladder().initialized(15 * time.Second)
	b.Settings = append(b.Settings, kasoku.Terms{Route: "POST /initialize", Limit: 16 * time.Second}.Settings()...)
	said(t, operation.SlowInitialize{}, b, "Initialize takes 15.0 s of the 16.0 s that it may", "as [contract] says")
}
