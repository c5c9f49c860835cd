package mysql

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseVersion(t *testing.T) {
	f := func(text string, flavor Flavor, major, minor, patch int) {
		t.Helper()
		gotFlavor, v := ParseVersion(text)
		if gotFlavor != flavor || v != (Version{major, minor, patch, text}) {
			t.Errorf("%q: %s %+v", text, gotFlavor, v)
		}
	}
	f("10.11.19-MariaDB-0+deb12u1", MariaDB, 10, 11, 19)
	f("5.5.5-10.11.6-MariaDB-log", MariaDB, 10, 11, 6)
	f("11.4.2-MariaDB-ubu2404", MariaDB, 11, 4, 2)
	f("9.7.4-2", MySQL, 9, 7, 4)
	f("8.0.36-28", MySQL, 8, 0, 36)
	f("5.7.44-log", MySQL, 5, 7, 44)
	f("8.4", MySQL, 8, 4, 0)
	f("8", MySQL, 8, 0, 0)
	f("", MySQL, 0, 0, 0)
	f("x.y", MySQL, 0, 0, 0)
}

func TestVersion_AtLeast(t *testing.T) {
	v := Version{Major: 8, Minor: 0, Patch: 22}
	f := func(major, minor, patch int, want bool) {
		t.Helper()
		if v.AtLeast(major, minor, patch) != want {
			t.Errorf("%d.%d.%d", major, minor, patch)
		}
	}
	f(8, 0, 22, true)
	f(8, 0, 23, false)
	f(8, 1, 0, false)
	f(7, 9, 99, true)
	f(9, 0, 0, false)
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"10.11.19-MariaDB-0+deb12u1", "5.5.5-10.11.6-MariaDB", "9.7.4-2", "8.", "99999999999999999999.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		flavor, v := ParseVersion(text)
		if v.Text != text || v.Major < 0 || v.Minor < 0 || v.Patch < 0 || (flavor != MySQL && flavor != MariaDB) {
			t.Errorf("%q: %s %+v", text, flavor, v)
		}
	})
}

func TestNumber(t *testing.T) {
	f := func(text string, want float64, ok bool) {
		t.Helper()
		if got, gotOK := number([]byte(text)); got != want || gotOK != ok {
			t.Errorf("%q: %v, %v", text, got, gotOK)
		}
	}
	f("0", 0, true)
	f("4711", 4711, true)
	f("-1", -1, true)
	f("0.250000", 0.25, true)
	f("18446744073709551615", math.MaxUint64, true)
	for _, s := range []string{"", "ON", "Inf", "NaN", "0x10", "1e5", "1_000", "--1", ".", "2026-11-20 10:00:00", strings.Repeat("1", 41)} {
		f(s, 0, false)
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-1.5", "ON", "1-1", "9999999999999999999999999999999999999999"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, ok := number(b)
		if !ok && v != 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			t.Errorf("%q: %v, %v", b, v, ok)
		}
		if want, err := strconv.ParseFloat(string(b), 64); ok && (err != nil || want != v) {
			t.Errorf("%q: %v, strconv says %v, %v", b, v, want, err)
		}
	})
}

func TestNumber_Allocations(t *testing.T) {
	b := []byte("18446744073709551615")
	if n := testing.AllocsPerRun(100, func() { number(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestInterner(t *testing.T) {
	var n interner
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, 50).Draw(t, "place")
		name := rapid.StringN(0, 5, -1).Draw(t, "name")
		if got := n.at(i, []byte(name)); got != name {
			t.Fatalf("%d: got %q, want %q", i, got, name)
		}
	})
	name := []byte("Threads_connected")
	n.at(3, name)
	if allocs := testing.AllocsPerRun(100, func() { n.at(3, name) }); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestQuoteName(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got := QuoteName(name); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
	f("t", "`t`")
	f("s.t", "`s`.`t`")
	f("s.t.u", "`s`.`t.u`")
	f("a`b.c`; DROP TABLE d", "`a``b`.`c``; DROP TABLE d`")
}

func TestSlowLogPath(t *testing.T) {
	f := func(file, want string) {
		t.Helper()
		if got := slowLogPath(map[string]string{"slow_query_log_file": file, "datadir": "/var/lib/mysql/"}); got != want {
			t.Errorf("%q: %q", file, got)
		}
	}
	f("host-slow.log", "/var/lib/mysql/host-slow.log")
	f("/var/log/mysql/slow.log", "/var/log/mysql/slow.log")
	f("", "")
}

// defaultsOf is what a fresh server says: MariaDB 10.11.19 and MySQL 9.7.4.
func defaultsOf(flavor Flavor) map[string]string {
	vars := map[string]string{
		"log_output": "FILE", "min_examined_row_limit": "0", "long_query_time": "10.000000", "slow_query_log": "OFF",
	}
	if flavor == MariaDB {
		vars["log_slow_rate_limit"] = "1"
		vars["log_slow_filter"] = "admin,filesort,filesort_on_disk,filesort_priority_queue,full_join,full_scan,query_cache,query_cache_miss,tmp_table,tmp_table_on_disk"
		vars["log_slow_verbosity"] = ""
	} else {
		vars["log_slow_extra"] = "OFF"
	}
	return vars
}

func TestPlanSlowLog(t *testing.T) {
	f := func(flavor Flavor, override map[string]string, want Settings, plan string) {
		t.Helper()
		vars := defaultsOf(flavor)
		for k, v := range override {
			vars[k] = v
		}
		var got []string
		for _, c := range planSlowLog(flavor, vars, want).Changes {
			if c.Before != vars[c.Name] {
				t.Errorf("%+v, it was %q", c, vars[c.Name])
			}
			got = append(got, c.Name+"="+c.During)
		}
		if s := strings.Join(got, " "); s != plan {
			t.Errorf("%s, %v: got %s, want %s", flavor, override, s, plan)
		}
	}
	all := Settings{}
	f(MariaDB, nil, all, "long_query_time=0.000000 slow_query_log=ON")
	f(MySQL, nil, all, "long_query_time=0.000000 slow_query_log=ON")
	f(MariaDB, nil, Settings{LongQueryTime: 250 * time.Millisecond}, "long_query_time=0.250000 slow_query_log=ON")
	f(MariaDB, nil, Settings{Extra: true}, "log_slow_verbosity=innodb,query_plan long_query_time=0.000000 slow_query_log=ON")
	f(MySQL, nil, Settings{Extra: true}, "log_slow_extra=ON long_query_time=0.000000 slow_query_log=ON")
	f(MariaDB, map[string]string{"long_query_time": "0.000000", "slow_query_log": "ON"}, all, "")
	f(MariaDB, map[string]string{"slow_query_log": "ON", "log_slow_verbosity": "query_plan,innodb,explain"}, Settings{Extra: true}, "long_query_time=0.000000")
	f(MariaDB, map[string]string{"log_output": "TABLE", "log_slow_rate_limit": "20", "log_slow_filter": "full_scan", "min_examined_row_limit": "100"}, all,
		"log_output=FILE min_examined_row_limit=0 log_slow_rate_limit=1 log_slow_filter= long_query_time=0.000000 slow_query_log=ON")
	f(MySQL, map[string]string{"log_output": "FILE,TABLE"}, all, "long_query_time=0.000000 slow_query_log=ON")
	f(MySQL, map[string]string{"log_output": "NONE"}, all, "log_output=FILE long_query_time=0.000000 slow_query_log=ON")
}

func TestOriginals(t *testing.T) {
	vars := map[string]string{"slow_query_log": "ON", "log_slow_query": "ON", "other": "1"}
	Originals(vars, []Changed{{Name: "slow_query_log", Before: "OFF"}, {Name: "setup_consumers.x", Before: "NO"}})
	if len(vars) != 3 || vars["slow_query_log"] != "OFF" || vars["log_slow_query"] != "OFF" || vars["other"] != "1" {
		t.Errorf("%v", vars)
	}
}

func TestSameValue(t *testing.T) {
	f := func(a, b string, want bool) {
		t.Helper()
		if sameValue(a, b) != want || sameValue(b, a) != want {
			t.Errorf("%q and %q", a, b)
		}
	}
	f("0", "0.000000", true)
	f("10", "10.5", false)
	f("innodb,query_plan", "query_plan,InnoDB", true)
	f("innodb", "query_plan,innodb", false)
	f("ON", "on", true)
	f("", "0", false)
	f("", "", true)
}

func TestAssignment(t *testing.T) {
	f := func(name, value, want string) {
		t.Helper()
		if got := (Changed{Name: name, Before: value}).Undo(); got != want {
			t.Errorf("%s %q: %s", name, value, got)
		}
	}
	f("long_query_time", "0.5", "SET GLOBAL long_query_time = 0.5")
	f("log_slow_filter", "", "SET GLOBAL log_slow_filter = ''")
	f("setup_consumers.statements_digest", "NO", "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'")
	f("setup_instruments.statement/com/Init DB", "YES,NO",
		"UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'NO' WHERE NAME = 'statement/com/Init DB'")
	f("log_output", "x'; DROP TABLE t; -- ", "")
	f("setup_consumers.x'y", "NO", "")
}

// Once a plan is carried out nothing is left to plan.
func TestPlanSlowLog_Idempotent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flavor := rapid.SampledFrom([]Flavor{MariaDB, MySQL}).Draw(t, "flavor")
		vars := defaultsOf(flavor)
		vars["log_output"] = rapid.SampledFrom([]string{"FILE", "TABLE", "FILE,TABLE", "NONE"}).Draw(t, "output")
		vars["long_query_time"] = rapid.SampledFrom([]string{"0.000000", "0.5", "10.000000"}).Draw(t, "time")
		vars["slow_query_log"] = rapid.SampledFrom([]string{"ON", "OFF"}).Draw(t, "log")
		want := Settings{LongQueryTime: time.Duration(rapid.IntRange(0, 3e9).Draw(t, "long")), Extra: rapid.Bool().Draw(t, "extra")}
		for _, c := range planSlowLog(flavor, vars, want).Changes {
			vars[c.Name] = c.During
		}
		if again := planSlowLog(flavor, vars, want).Changes; len(again) != 0 {
			t.Fatalf("%+v", again)
		}
	})
}

func TestNote(t *testing.T) {
	start := time.Unix(time.Now().Unix(), 0) // servers report whole seconds
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	r := &Reader{}
	r.life.note(8, 10, at(0), at(0), nil)
	f := func(session uint64, uptime int64, now int, lost error, want string) {
		t.Helper()
		r.life.note(session, uptime, at(now), at(now), lost)
		got := ""
		for _, n := range r.Notices() {
			got += n.Kind + ": " + n.Text
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(9, 20, 10, ErrUnexpected, "reconnect: reconnected; the connection was lost: unexpected answer")
	f(10, 29, 19, nil, "") // a Close and a new beginning
	f(11, 1, 30, ErrUnexpected, "restart: server restarted: up for 1 s; the connection was lost: unexpected answer")
	f(11, 2, 31, nil, "restart: server restarted: up for 2 s") // so quick that only the id shows it
	f(40, 2, 32, nil, "restart: server restarted: up for 2 s") // and so quick, with so many sessions, that only the second of its start does
	if r.Restarts() != 3 {
		t.Errorf("%d restarts", r.Restarts())
	}
}
