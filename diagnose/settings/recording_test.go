package settings

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
)

// run is a recording of a server over 60 s, of which 10 s to 50 s are load.
func run(in Input, during map[string]float64) *kasoku.Recording {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: time.Minute, Hosts: []kasoku.Host{{Name: "db1", Cores: 4, MemoryBytes: 8 << 30}}}}
	rec.Phases = []kasoku.Phase{{Kind: kasoku.PhaseLoad, Interval: kasoku.Interval{From: 10 * time.Second, To: 50 * time.Second}}}
	for _, name := range slices.Sorted(maps.Keys(in.Variables)) {
		rec.Settings = append(rec.Settings, kasoku.Setting{Host: "db1", Scope: "mysql", Name: name, Value: in.Variables[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(in.Status)) {
		kind := kasoku.Counter
		if name == "Max_used_connections" || name == "Open_files" || name == "Open_tables" || name == "Uptime" {
			kind = kasoku.Gauge
		}
		s := kasoku.Series{Key: kasoku.Key{Host: "db1", Source: "mysql", Name: name}, Kind: kind}
		for i := range 61 {
			at := time.Duration(i) * time.Second
			share := min(max((at-10*time.Second).Seconds()/40, 0), 1)
			s.Points = append(s.Points, kasoku.Point{At: at, Value: in.Status[name] + share*during[name]})
		}
		rec.Series = append(rec.Series, s)
	}
	return rec
}

func TestFromRecording(t *testing.T) {
	rec := run(mariaDB(), map[string]float64{"Questions": 1e5, "Sort_merge_passes": 500, "Sort_scan": 1000, "Slow_queries": 1e5, "Innodb_data_fsyncs": 4000, "Com_commit": 4000, "Com_begin": 4000})
	rec.Changes = []kasoku.Change{{Host: "db1", Object: "mariadb", Name: "long_query_time", Before: "10", During: "0"}}
	rec.Settings = append(rec.Settings, kasoku.Setting{Host: "db1", Scope: "sysctl", Name: "vm.swappiness", Value: "60"})
	in := FromRecording(rec)
	if in.Host != "db1" || in.Window != 40*time.Second || !in.Load || in.Over != "40 s of load" || in.Grown["Sort_merge_passes"] != 500 {
		t.Errorf("host %q, window %v, %q, grown %v", in.Host, in.Window, in.Over, in.Grown["Sort_merge_passes"])
	}
	if in.Memory.RAM != 8<<30 || in.System.Cores != 4 {
		t.Errorf("%+v %+v", in.Memory, in.System)
	}
	r := check1(t, in)
	got := changes(r.Advice)
	for name, want := range map[string]string{"sort_buffer_size": "4194304", "innodb_flush_log_at_trx_commit": "2"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q; %v", name, got[name], want, got)
		}
	}
	for _, a := range of(r.Advice, "MYS-13") {
		if a.Window != "40 s of load" || a.Confidence.Level != kasoku.Medium {
			t.Errorf("%+v", a)
		}
	}
	if len(of(r.Advice, "MYS-40")) != 1 || len(of(r.Advice, "MYS-05")) != 0 {
		t.Errorf("kernel %v, slow %v", of(r.Advice, "MYS-40"), of(r.Advice, "MYS-05"))
	}
	why := map[string]string{}
	for _, u := range r.Unseen {
		why[u.ID] = u.Why
	}
	if !strings.Contains(why["MYS-05"], "kasoku logged all") || why["MYS-35"] == "" || why["MYS-39"] == "" || why["MYS-34"] == "" {
		t.Errorf("unseen: %v", why)
	}
}

// TestFromRecording_Bare: what a run lacks is said, check by check.
func TestFromRecording_Bare(t *testing.T) {
	for name, rec := range map[string]*kasoku.Recording{
		"empty":    {},
		"settings": {Settings: run(mariaDB(), nil).Settings},
		"status":   {Series: run(mariaDB(), nil).Series, Run: kasoku.Run{Length: time.Minute}},
	} {
		r := check1(t, FromRecording(rec))
		if len(r.Unseen) < 10 {
			t.Errorf("%s: %d unseen, %d quiet, %d advices", name, len(r.Unseen), len(r.Quiet), len(r.Advice))
		}
		for _, u := range r.Unseen {
			if u.Why == "" || u.Title == "" {
				t.Errorf("%s: %+v", name, u)
			}
		}
	}
}

// TestFromRecording_Peak: of the most connections only a new record, or what was
// sampled, is of the load.
func TestFromRecording_Peak(t *testing.T) {
	in := with(mariaDB(), nil, map[string]float64{"Max_used_connections": 140, "Threads_connected": 30})
	if got := FromRecording(run(in, nil)).Status["Max_used_connections"]; got != 30 {
		t.Errorf("%v, want the 30 of the load", got)
	}
	if got := FromRecording(run(in, map[string]float64{"Max_used_connections": 11})).Status["Max_used_connections"]; got != 151 {
		t.Errorf("%v, want the new record", got)
	}
}

// TestFromRecording_Limit: max_connections is not lowered below what was open outside of the load.
func TestFromRecording_Limit(t *testing.T) {
	for most, want := range map[float64]string{40: "151", 380: "800"} {
		in := with(mariaDB(), map[string]string{"max_connections": "4000"}, map[string]float64{"Max_used_connections": most, "Threads_connected": 30})
		if got := changes(check1(t, FromRecording(run(in, nil))).Advice)["max_connections"]; got != want {
			t.Errorf("%v were open once: max_connections %q, want %q", most, got, want)
		}
	}
}

// shared gives a run a database of that resident memory, on a host of 8 GiB of which less and
// less is available.
func shared(rec *kasoku.Recording, rss float64, available ...float64) *kasoku.Recording {
	rec.Service = &kasoku.Service{Members: []kasoku.Member{
		{ID: "db", Role: kasoku.RoleDatabase, Host: "db1", Unit: "mariadb.service", Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: 7, Leader: true}}},
		{ID: "app", Role: kasoku.RoleApplication, Host: "db1", Unit: "php-fpm.service", Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: 8, Leader: true}}},
	}}
	add := func(source, name, instance string, values ...float64) {
		s := kasoku.Series{Key: kasoku.Key{Host: "db1", Source: source, Name: name, Instance: instance}}
		for i, v := range values {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(i*10) * time.Second, Value: v})
		}
		rec.Series = append(rec.Series, s)
	}
	add("host", "mem.available", "", available...)
	add("process", "rss", "7 mariadbd", rss)
	add("process", "rss", "8 php-fpm", 3<<30)
	return rec
}

// TestFromRecording_Others: on a host that others use, a larger pool leaves them what they used
// at most; where that is not known none is proposed.
func TestFromRecording_Others(t *testing.T) {
	missing := map[string]float64{"Innodb_buffer_pool_reads": 5e5, "Innodb_buffer_pool_read_requests": 5e5}
	base := func() *kasoku.Recording {
		rec := run(mariaDB(), missing)
		rec.Tables = []kasoku.TableDef{{Host: "db1", Schema: "shop", Name: "a", Engine: "InnoDB", Rows: 1, DataBytes: 20 << 30}}
		return rec
	}
	grown := func(in Input) string { return changes(check1(t, in).Advice)["innodb_buffer_pool_size"] }
	in := FromRecording(shared(base(), 1<<30, 4<<30, 3<<30, 2<<30))
	if in.Memory.Others != 5<<30 || !in.Memory.Seen || in.Memory.RAM != 8<<30 {
		t.Fatalf("%+v", in.Memory)
	}
	if got := grown(in); got != "536870912" { // 80 % of 8 GiB less 5 GiB of others and what else the server takes
		t.Errorf("pool %s", got)
	}
	if got := grown(FromRecording(shared(base(), 1<<30, 4<<30, 1<<30, 4<<30))); got != "" {
		t.Errorf("pool %s beside 6 GiB of others", got)
	}
	in = FromRecording(base())
	if got := grown(in); got != "" || in.Memory.Seen {
		t.Errorf("pool %s where others are not known", got)
	}
	for _, a := range of(check1(t, in).Advice, "MYS-23") {
		if !strings.Contains(a.Note, "what other programs of its host use is not known") {
			t.Error(a.Note)
		}
	}
	in.SayRAM(8 << 30)
	if got := grown(in); got == "" {
		t.Error("--ram proposes no pool")
	}
}

// TestFromRecording_ControlGroup: a limit of the database's own group counts where it leaves
// less than the others on the host do.
func TestFromRecording_ControlGroup(t *testing.T) {
	limited := func(available float64) *kasoku.Recording {
		rec := shared(run(mariaDB(), nil), 1<<30, available)
		for name, v := range map[string]float64{"mariadb.service": 2 << 30, "mysql-of-another.service": 1 << 30, "nginx.service": 1 << 20} {
			rec.Series = append(rec.Series, kasoku.Series{Key: kasoku.Key{Host: "db1", Source: "cgroup", Name: "memory.max", Instance: name}, Points: []kasoku.Point{{At: 0, Value: v}}})
		}
		return rec
	}
	if m := FromRecording(limited(6 << 30)).Memory; m.RAM != 2<<30 || m.Others != 0 || !strings.Contains(m.From, "mariadb.service") {
		t.Errorf("%+v", m)
	}
	if m := FromRecording(limited(1 << 29)).Memory; m.RAM != 8<<30 || m.Others != 13<<29 || m.From != "memory of db1" {
		t.Errorf("more room than the host has: %+v", m)
	}
	rec := limited(6 << 30)
	rec.Service = nil
	if m := FromRecording(rec).Memory; m.RAM != 8<<30 || m.Seen {
		t.Errorf("a group of an unknown service counts: %+v", m)
	}
	rec.Run.Hosts[0].Name = "app1"
	if m := FromRecording(rec).Memory; m.RAM != 0 {
		t.Errorf("the memory of another host is taken: %+v", m)
	}
}

func TestCovers(t *testing.T) {
	x := func(name string, unique bool, parts ...string) mysql.Index {
		return mysql.Index{Table: "s.t", Name: name, Unique: unique, Parts: parts}
	}
	f := func(by, of mysql.Index, want bool) {
		t.Helper()
		if got := coversIndex(by, of); got != want {
			t.Errorf("%v covers %v: %t", by, of, got)
		}
	}
	f(x("ab", false, "a", "b"), x("a", false, "a"), true)
	f(x("ab", false, "a", "b"), x("b", false, "b"), false)
	f(x("ab", false, "a", "b"), x("a", true, "a"), false) // unique: a rule, too
	f(x("PRIMARY", true, "a"), x("a", false, "a"), true)
	f(x("PRIMARY", true, "a"), x("a", true, "a"), true)
	f(x("a", false, "a"), x("PRIMARY", true, "a"), false)
	f(x("a1", false, "a"), x("a2", false, "a"), true)
	f(x("a2", false, "a"), x("a1", false, "a"), false)
	f(x("a(9)", false, "a(9)"), x("a", false, "a"), false)
	f(x("f2", false, "()"), x("f1", false, "()"), false) // expressions: not known
}

func TestGreatest(t *testing.T) {
	f := func(kind string, want float64) {
		t.Helper()
		if got := greatestValue(kind); got != want {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
	f("tinyint(4)", 127)
	f("tinyint unsigned", 255)
	f("smallint", 32767)
	f("mediumint(9)", 1<<23-1)
	f("int", 1<<31-1)
	f("INT(10) UNSIGNED", 1<<32-1)
	f("bigint(20) unsigned zerofill", 1<<64)
	f("double", 0)
	f("", 0)
}

// TestFromRecording_Reads: a pool in which 97 % of the pages are found is too small all the same, where a thousand a
// second are read from disk; a page less is a remark, and so is what no load was measured of.
func TestFromRecording_Reads(t *testing.T) {
	f := func(perSecond float64, want kasoku.Level, set bool) {
		t.Helper()
		rec := run(mariaDB(), map[string]float64{"Innodb_buffer_pool_reads": 1, "Innodb_buffer_pool_read_requests": 1})
		rec.Tables = []kasoku.TableDef{{Host: "db1", Schema: "shop", Name: "a", Engine: "InnoDB", Rows: 1, DataBytes: 1 << 30}}
		in := FromRecording(rec)
		in.SayRAM(64 << 30)
		if in.Window <= 0 {
			t.Fatal("no window")
		}
		in.Grown["Innodb_buffer_pool_reads"] = perSecond * in.Window.Seconds()
		in.Grown["Innodb_buffer_pool_read_requests"] = 200 * in.Grown["Innodb_buffer_pool_reads"]
		all := of(check1(t, in).Advice, "MYS-23")
		if len(all) != 1 || all[0].Confidence.Level != want || (all[0].SetGlobal != "") != set ||
			strings.Contains(all[0].Note, "pages a second were read from disk") != set {
			t.Errorf("%v a second: %+v", perSecond, all)
		}
	}
	f(1000, kasoku.Medium, true)
	f(999, kasoku.Low, false) // of the pages 99.5 % are found: more would save next to nothing
}
