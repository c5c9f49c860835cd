package rules

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// oneCore is step 3 with one process of puma that uses so many cores, and others beside it
// that do, of two cores; requests take ten times as long as under less load.
func oneCore(app, others float64) *build {
	b := ladder().latency(3, 100*time.Millisecond, 0).cpu(0, app+others).program("20 puma", app, 1e8)
	b.level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30)
	return b.served("ruby", "puma", 1)
}

// served sets what the application of the service is.
func (b *build) served(language, framework string, workers int) *build {
	m := &b.Service.Members[slices.IndexFunc(b.Service.Members, func(m kasoku.Member) bool { return m.Role == kasoku.RoleApplication })]
	m.Language, m.Framework, m.Workers = language, framework, workers
	return b
}

// group puts the application into a control group with a quota, of which so much is used.
func (b *build) group(cores, used float64) *build {
	return b.level(kasoku.Key{Source: diagnose.Cgroup, Name: "cpu.max", Instance: "puma.service"}, cores).
		counts(kasoku.Key{Source: diagnose.Cgroup, Name: "cpu.usage", Instance: "puma.service"}, 0, 0, 10*used)
}

func TestOneCore(t *testing.T) {
	r := host.OneCore{}
	f := fires(t, r, oneCore(0.97, 0.1), kasoku.Medium, "Puma's one process used 0.97 of a core (median; at least 0.9 in 10 of 10 seconds with requests), "+
		"while 0.93 of 2 cores stood idle")
	if f.Severity != kasoku.Problem || !strings.Contains(f.Cause, "requests took 99") && !strings.Contains(f.Cause, "requests took 100 ms") ||
		!strings.Contains(f.Cause, "under less load") || f.Impact.Share < 0.98 || f.Impact.Share > 0.995 || f.Impact.Of != "of request time" {
		t.Errorf("%s %s, impact %+v", f.Severity, f.Cause, f.Impact)
	}
	if x := f.Fixes[0]; x.Code != "workers 2\npreload_app!" || x.Lang != "ruby" || !strings.Contains(x.Note, "Each holds 95.4 MiB") {
		t.Errorf("fix %+v", x)
	}
	fires(t, r, oneCore(0.97, 0.1).group(4, 1), kasoku.Medium, "0.93 of 2 cores")
	// The quota leaves less than the host does.
	b := oneCore(0.97, 0.1).group(1.8, 1)
	if f = fires(t, r, b, kasoku.Medium, "while 0.80 of 1.8 cores of its control group's quota stood idle"); !strings.Contains(fmt.Sprint(f.Evidence), "puma.service") {
		t.Errorf("%+v", f.Evidence)
	}

	silent(t, r, oneCore(0.87, 0.1), 0.96, 0.97, "puma's one process used 0.87 of a core")
	silent(t, r, oneCore(0.97, 0.58), 0.89, 0.91, "of the other cores only 0.45 was left to it")
	silent(t, r, oneCore(0.97, 0.1).group(1, 0.97), 0, 0, "1 cores are all it may use")
	silent(t, r, oneCore(0.97, 0.1).group(1.9, 1.6), 0.5, 0.7, "only 0.30 was left to it")
	silent(t, r, oneCore(1.4, 0.1), 0, 0, "a process of puma uses 1.40 cores: it is not held to one")
	// Who takes the other core matters not: neighbours, the load's generator, steal.
	silent(t, r, oneCore(0.97, 0.9).program("91 cc1plus", 0.9, 1), 0, 0.3, "only 0.13 was left")
	silent(t, r, oneCore(0.97, 0).cpu(0.9, 0.97).program("30 kasoku", 0.9, 1), 0, 0.3, "only 0.13 was left")
	silent(t, r, oneCore(0.97, 0).cpu(0, 0.97).counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, 20, 20, 1.3).
		counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.steal"}, 0, 0, 9), 0, 0.3, "only 0.13 was left")
	// Another database's thread is full, not the application's.
	silent(t, r, oneCore(0.2, 1).program("10 mysqld", 0.97, 1e9), 0.2, 0.3, "puma's one process used 0.20")
	// Four seconds of ten are full.
	spikes := oneCore(0.97, 0)
	spikes.add(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: "20 puma"}, kasoku.Counter, func(s int) float64 {
		return 0.98*float64(min(max(s-29, 0), 4)) + 0.1*float64(max(s-33, 0))
	}).drop(diagnose.Process, "cpu.system", "20 puma")
	silent(t, r, spikes, 0.1, 0.12, "puma's one process used 0.10")
	for _, l := range []string{"go", "java", "rust", "csharp", "erlang", ""} {
		silent(t, r, oneCore(0.97, 0.1).served(l, "", 1), 0, 0, "is not known to be held to one core")
	}
	silent(t, r, oneCore(0.97, 0.1).served("ruby", "sidekiq", 1), 0, 0, "is not known to be held to one core")

	// Two processes on two cores; one of two is full.
	silent(t, r, oneCore(0.9, 0.9).program("21 puma", 0.9, 1e8).served("ruby", "puma", 2), 0, 0, "puma runs in 2 processes")
	four := oneCore(0.97, 0.97).program("21 puma", 0.2, 1e8).served("ruby", "puma", 2)
	four.Run.Hosts[0].Cores = 4
	four.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, 40, 40, 20)
	silent(t, r, four, 0.2, 0.3, "each of puma's 2 processes used 0.20 of a core")
	f = fires(t, r, four.program("21 puma", 0.95, 1e8), kasoku.Medium, "Each of puma's 2 processes used 0.95 of a core")
	if !strings.Contains(f.Fixes[0].Code, "workers 4") {
		t.Errorf("%+v", f.Fixes)
	}

	blind(t, r, ladder(), "no application of the service is known")
	blind(t, r, oneCore(0.97, 0.1).drop(diagnose.Host, "", ""), "the host was not recorded")
	blind(t, r, oneCore(0.97, 0.1).drop(diagnose.Process, "", ""), "recorded in 0 seconds with requests")
}

// TestOneCore_Line: a process with one request in work computes, and waits for statements; that is
// all it has time for, and requests wait for it.
func TestOneCore_Line(t *testing.T) {
	r := host.OneCore{}
	f := func(cpu, statements, others float64, threads int) *build {
		b := oneCore(cpu, others).served("ruby", "unicorn", 1)
		b.Service.Members[slices.IndexFunc(b.Service.Members, func(m kasoku.Member) bool { return m.Role == kasoku.RoleApplication })].Threads = threads
		q := kasoku.Query{ID: "Q", Verb: "SELECT", Fingerprint: "select ?", Seconds: map[int]kasoku.QuerySecond{}}
		for s := range 42 {
			q.Seconds[s] = kasoku.QuerySecond{Calls: 100, Total: time.Duration(statements * float64(time.Second))}
		}
		b.Queries = append(b.Queries, q)
		return b
	}
	x := fires(t, r, f(0.4, 0.55, 0.6, 1), kasoku.Medium, "Puma's one process computed 40.0 % of the time and waited for statements 55.0 % of it, "+
		"with one request in work at a time. 100 requests were open for each process, and 1.00 of 2 cores stood idle")
	if !strings.Contains(x.Title, "one request in work") || x.Fixes[0].Code != "worker_processes 2\npreload_app true" || x.Impact.Share > 0.5 {
		t.Errorf("%+v", x)
	}
	silent(t, r, f(0.4, 0.45, 0.6, 1), 0.4, 0.5, "used 0.40 of a core")
	silent(t, r, f(0.4, 0.55, 1.2, 1), 0.5, 0.9, "only 0.40 was left to it")
	silent(t, r, f(0.4, 0.55, 0.6, 5), 0.4, 0.5, "used 0.40 of a core") // Puma's other threads go on
	silent(t, r, f(0.4, 0.55, 0.6, 0), 0.4, 0.5, "used 0.40 of a core")
	idle := f(0.4, 0.55, 0.6, 1).latency(3, time.Millisecond, 0)
	silent(t, r, idle, 0.4, 0.5, "used 0.40 of a core") // no request waits
	locked := f(0.4, 0.55, 0.6, 1).counter("Innodb_row_lock_time", 0, 0, 16000)
	silent(t, r, locked, 0.4, 0.5, "used 0.40 of a core")
	silent(t, r, f(0.4, 0.55, 0.6, 1).program("21 puma", 0.1, 1e8).program("22 puma", 0.1, 1e8), 0.4, 0.5, "used 0.40 of a core") // more than were counted
	// Two of them on two cores wait as well.
	two := f(0.3, 1.3, 0.6, 1).program("21 puma", 0.3, 1e8)
	two.served("ruby", "unicorn", 2)
	if x = fires(t, r, two, kasoku.Medium, "Each of puma's 2 processes computed 30.0 %"); !strings.Contains(x.Fixes[0].Code, "worker_processes 3") {
		t.Errorf("%+v", x.Fixes)
	}
}

// TestOneCore_MainThread: of Node.js the main thread counts, where threads were recorded.
func TestOneCore_MainThread(t *testing.T) {
	r := host.OneCore{}
	node := func(all float64, thread string, cores float64) *build {
		b := oneCore(all, 0.1).served("javascript", "", 1)
		if thread != "" {
			b.counts(kasoku.Key{Source: diagnose.Process, Name: "thread.cpu", Instance: thread}, 0, 0, 10*cores)
		}
		return b
	}
	fires(t, r, node(0.97, "", 0), kasoku.Medium, "used 0.97 of a core")
	if f := fires(t, r, node(1.25, "20/20 node", 0.96), kasoku.Medium, "used 0.96 of a core"); !strings.Contains(f.Fixes[0].Code, "cluster.fork()") {
		t.Errorf("%+v", f.Fixes)
	}
	silent(t, r, node(0.97, "20/24 libuv-worker", 0.9), 0, 0.01, "used 0 of a core")
	silent(t, r, node(1.2, "20/20 node", 0.5), 0.5, 0.6, "used 0.50 of a core")
}

// TestOneCore_Fixes: the fix is the one of the server, and what it needs is said.
func TestOneCore_Fixes(t *testing.T) {
	r := host.OneCore{}
	for _, x := range [][3]string{{"ruby", "puma", "workers 2"}, {"ruby", "unicorn", "worker_processes 2"}, {"ruby", "", "number of workers"},
		{"python", "gunicorn", "workers = 2"}, {"python", "uvicorn", "WEB_CONCURRENCY=2"}, {"python", "", "number of workers"},
		{"javascript", "", "i < 2"}, {"javascript", "pm2", "instances: 2"}, {"php", "php-fpm", "pm.max_children = 2"}, {"perl", "", "number of workers"}, {"perl", "starman", "--workers 2"}} {
		f := fires(t, r, oneCore(0.97, 0.1).served(x[0], x[1], 1), kasoku.Medium, "one process")
		if fix := f.Fixes[0]; !strings.Contains(fix.Code+fix.Note, x[2]) || !strings.Contains(fix.Text, "2 processes") ||
			!strings.Contains(fix.Note, "connections") || !strings.Contains(fix.Note, "one for each") || fix.Risk != kasoku.RiskAppRestart {
			t.Errorf("%v: %+v", x, fix)
		}
	}
	note := func(b *build) string {
		f := fires(t, r, b, kasoku.Medium, "one process")
		return f.Fixes[0].Text + f.Fixes[0].Code + f.Fixes[0].Note
	}
	if s := note(oneCore(0.97, 0.1).host("mem.available", 4<<30)); !strings.Contains(s, "1 more take as much as 95.4 MiB of the 4.0 GiB that are available") ||
		!strings.Contains(s, "9 were open, with 2 processes up to 18 of the 151 of max_connections.") {
		t.Error(s)
	}
	if s := note(oneCore(0.97, 0.1).host("mem.available", 5e7)); !strings.Contains(s, "The memory does not suffice") || strings.Contains(s, "workers 2") {
		t.Error(s)
	}
	if s := note(oneCore(0.97, 0.1).setting("max_connections", "12")); !strings.Contains(s, "which is too many") {
		t.Error(s)
	}
	limited := oneCore(0.97, 0.1).host("mem.available", 4<<30).
		level(kasoku.Key{Source: diagnose.Cgroup, Name: "memory.max", Instance: "puma.service"}, 3e8).
		level(kasoku.Key{Source: diagnose.Cgroup, Name: "memory.current", Instance: "puma.service"}, 2.5e8)
	if s := note(limited); !strings.Contains(s, "The memory does not suffice") {
		t.Error(s)
	}
}

// TestOneCore_Live: a real server of one process burns CPU. Where the machine has a core left
// it is found; where what else runs here takes it, that is why it is not.
func TestOneCore_Live(t *testing.T) {
	turn.Wait(t)
	burners := []burner{{"gunicorn", 1}}
	if os.Getenv("KASOKU_LONG") != "" {
		burners = append(burners, burner{"puma", 1}, burner{"node", 1})
	}
	for _, b := range burners {
		t.Run(b.String(), func(t *testing.T) {
			c := diagnose.NewCase(b.record(t, "", 60), nil)
			busy, cores, err := c.Hosts().BusyOn("")
			if err != nil {
				t.Fatal(err)
			}
			found, silent := host.OneCore{}.Check(c)
			switch {
			case len(found) == 1:
				if f := found[0]; !strings.Contains(f.Cause, "'s one process used ") || len(f.Fixes) != 1 {
					t.Errorf("%s\n%+v", f.Cause, f.Fixes)
				}
				t.Log(found[0].Title, found[0].Cause)
			case len(silent) == 1 && !silent[0].Blind && cores-busy < 0.6 && strings.Contains(silent[0].Reason, "'s one process used "):
				t.Log(silent[0].Reason)
			default:
				t.Errorf("%.2f of %.0f cores are busy; %+v", busy, cores, silent)
			}
		})
	}
}
