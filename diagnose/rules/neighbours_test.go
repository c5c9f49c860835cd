package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/diagnose/rules/application"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/diagnose/rules/pool"
	"github.com/kasoku/kasoku/diagnose/rules/web"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/process"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recording"
)

// measured reports that the service is nginx 5, shop 20 and mysqld 10; all else is beside it.
func (b *build) measured() *build {
	member := func(role kasoku.MemberRole, program string, pid int, configs ...string) kasoku.Member {
		return kasoku.Member{ID: program, Role: role, Program: program, Sure: kasoku.High, Configs: configs,
			Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}}
	}
	b.Service = &kasoku.Service{Members: []kasoku.Member{member(kasoku.RoleWeb, "nginx", 5, "/srv/a/nginx.conf"),
		member(kasoku.RoleApplication, "shop", 20), member(kasoku.RoleDatabase, "mysqld", 10)}}
	return b
}

// quietOrBlind fails when a rule finds anything.
func quietOrBlind(t *testing.T, r diagnose.Rule, b *build) {
	t.Helper()
	if found, _ := r.Check(b.alone()); len(found) > 0 {
		t.Errorf("%s: %s, evidence %+v", found[0].ID, found[0].Title, found[0].Evidence)
	}
}

// statesNeighbours fails when the first finding of a diagnosis does not say of neighbours
// what is wanted, in its cause and in its evidence.
func statesNeighbours(t *testing.T, r diagnose.Rule, b *build, want string) {
	t.Helper()
	found := diagnose.Diagnose(b.alone(), []diagnose.Rule{r}).Findings
	if len(found) == 0 || !strings.HasSuffix(found[0].Cause, " "+want) ||
		!slices.ContainsFunc(found[0].Evidence, func(e kasoku.Evidence) bool {
			return strings.HasSuffix(e.Text, " of programs outside of the service") && strings.Contains(want, " "+e.Value+" "+e.Note+".")
		}) {
		t.Errorf("does not say %q: %+v", want, found)
	}
}

// TestNeighbours_CPU: the databases and programs of others on the host are added to none of
// the service's, and what they use is said.
func TestNeighbours_CPU(t *testing.T) {
	// Three databases of others are busy, the measured one is idle: that is no one's fault here.
	beside := func() *build {
		b := ladder().cpu(0.1, 1.8).program("10 mysqld", 0.05, 1e9).program("20 shop", 0.15, 1e8).program("30 kasoku", 0.1, 5e7)
		b.level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30)
		return b.program("91 mysqld", 0.5, 1e9).program("92 mysqld", 0.5, 1e9).program("93 mysqld", 0.6, 1e9)
	}
	quietOrBlind(t, host.DBBound{}, beside().measured())
	for _, r := range All() { // nothing is known of the service: anyone may run them
		unknown := beside().counts(kasoku.Key{Source: diagnose.Host, Name: "forks"}, 0, 0, 900).
			counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.children", Instance: "95 go"}, 0, 0, 5).
			program("95 go", 1, 1e9).host("mem.total", 8<<30).host("mem.available", 1<<20)
		for _, instance := range []string{"95 go", "91 mysqld"} {
			unknown.level(kasoku.Key{Source: diagnose.Process, Name: "fds", Instance: instance}, 1024).
				level(kasoku.Key{Source: diagnose.Process, Name: "fds_limit", Instance: instance}, 1024)
		}
		unknown.level(kasoku.Key{Source: diagnose.Cgroup, Name: "pids.current", Instance: "build.service"}, 64).
			level(kasoku.Key{Source: diagnose.Cgroup, Name: "pids.max", Instance: "build.service"}, 64).
			counts(kasoku.Key{Source: diagnose.Cgroup, Name: "pids.events.max", Instance: "build.service"}, 0, 0, 9).
			counts(kasoku.Key{Source: diagnose.Cgroup, Name: "memory.events.oom_kill", Instance: "build.service"}, 0, 0, 2)
		for _, known := range []bool{false, true} {
			if unknown.Service = nil; known {
				unknown.measured()
			}
			found, silent := r.Check(unknown.alone())
			said := fmt.Sprintf("%+v %+v", found, silent)
			for _, name := range []string{"95 go", "process go", " go ", "91 mysqld", "93 mysqld", "build.service"} {
				if strings.Contains(said, name) {
					t.Errorf("%s, service known %t: names %q: %s", r.ID(), known, name, said)
				}
			}
			if !known && strings.Contains(said, "mysqld") {
				t.Errorf("%s names a database that may be anyone's: %s", r.ID(), said)
			}
		}
	}

	// The measured one is busy too: its own figure, beside that of the others.
	b := ladder().cpu(0.1, 1.9).program("10 mysqld", 1.2, 1e9).program("20 shop", 0.2, 1e8).program("30 kasoku", 0.1, 5e7).
		level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).program("91 mysqld", 0.5, 1e9).measured()
	f := fires(t, host.DBBound{}, b, kasoku.Medium, "mysqld uses 1.20 of 2 cores, shop 0.20, the load's generator and kasoku 0.10")
	statesNeighbours(t, host.DBBound{}, b, "Programs outside of the service use 0.50 of 2 cores.")
	if f.Impact.Share < 0.85 || f.Impact.Share > 0.86 {
		t.Errorf("share %v of the service's CPU", f.Impact.Share)
	}

	// Where they fill the host, who of the service uses the rest is a remark, whatever requests wait for.
	full := func(others float64) *build {
		return ladder().cpu(0.1, 1.9).program("10 mysqld", 0.7, 1e9).program("20 shop", 1.1-others, 1e8).
			program("30 kasoku", 0.1, 5e7).level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).
			program("91 mysqld", others, 1e9).measured().slowed()
	}
	for others, want := range map[float64]kasoku.Severity{0.5: kasoku.Info, 0.02: kasoku.Problem} {
		if found, silent := (host.SharedCPU{}).Check(full(others).alone()); len(found) != 1 || found[0].Severity != want {
			t.Errorf("%v cores of others: %+v %+v", others, found, silent)
		}
	}

	// A build of somebody is no application.
	b = ladder().cpu(0.1, 1.8).program("10 mysqld", 0.1, 1e9).program("20 shop", 0.2, 1e8).program("30 kasoku", 0.1, 5e7).
		level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).program("94 cc1plus", 1.5, 1e9)
	quietOrBlind(t, host.AppCPU{}, b.measured())
	quietOrBlind(t, host.SharedCPU{}, b)

	// nginx is of the service, and is not its application.
	b = ladder().cpu(0.1, 1.8).program("5 nginx", 1.4, 1e8).program("20 shop", 0.2, 1e8).program("10 mysqld", 0.1, 1e9).measured()
	quietOrBlind(t, host.AppCPU{}, b)
}

// TestNeighbours_Unpressed: a host that neighbours help to make busy wants no CPU for a service that has
// little of it; as busy by the service alone, or with nothing left, it does.
func TestNeighbours_Unpressed(t *testing.T) {
	b := func(app, db, others float64) *build {
		return ladder().cpu(0.1, 0.1+app+db+others).program("10 mysqld", db, 1e9).program("20 shop", app, 1e8).
			program("30 kasoku", 0.1, 5e7).level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).
			program("94 cc1plus", others, 1e9).measured()
	}
	silent(t, host.AppCPU{}, b(0.8, 0.15, 0.5), 0, 0.99, "the host was 82.5 % busy, 52.5 % without what programs outside")
	silent(t, host.DBBound{}, b(0.15, 0.8, 0.5), 0, 0.99, "52.5 % without what programs outside")
	fires(t, host.AppCPU{}, b(1.2, 0.15, 0.02), kasoku.Low, "shop uses 1.20 of 2 cores")
	fires(t, host.DBBound{}, b(0.15, 1.2, 0.02), kasoku.Low, "mysqld uses 1.20 of 2 cores")
	fires(t, host.AppCPU{}, b(1.2, 0.15, 0.4), kasoku.Medium, "shop uses 1.20 of 2 cores")
	fires(t, host.DBBound{}, b(0.15, 0.8, 0.8), kasoku.Medium, "mysqld uses 0.80 of 2 cores")
}

// TestNeighbours_Overdrawn: where a child of a member ends that had worked before the load, the members seem to
// have used more than the host was busy with. What neighbours used is not known then, and not nothing.
func TestNeighbours_Overdrawn(t *testing.T) {
	b := ladder().cpu(0.1, 1.8).program("20 shop", 0.6, 1e8).program("91 mysqld", 1, 1e9).measured()
	if used, ok := b.alone().NeighbourCores(b.Run.Hosts[0].Name); !ok || used < 1.25 || used > 1.35 {
		t.Errorf("neighbours used %.2f cores, known %t", used, ok)
	}
	b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.children", Instance: "20 shop"}, 0, 0, 30)
	if used, ok := b.alone().NeighbourCores(b.Run.Hosts[0].Name); ok {
		t.Errorf("neighbours used %.2f cores, the members more than the host was busy with", used)
	}
}

// TestNeighbours_SerialClient: what neighbours use is no CPU of the service and its load, and is counted
// whole though the finding's series name no host.
func TestNeighbours_SerialClient(t *testing.T) {
	b := ladder().cpu(0.1, 1.9).program("10 mysqld", 0.3, 1e9).program("20 shop", 0.2, 1e8).program("91 mysqld", 1.4, 1e9).measured()
	b.Load, b.Seconds = nil, nil
	b.Settings = append(b.Settings, kasoku.SentOver("h", 1))
	b.add(kasoku.Key{Source: diagnose.MySQL, Name: mysql.ConnQuery}, kasoku.Gauge, func(int) float64 { return 1 })
	b.Queries = []kasoku.Query{{ID: "Q", Verb: "INSERT", Fingerprint: "insert", Calls: 11_100, Total: 20 * time.Second}}
	// All of the programs work in the last step of ten seconds alone, of 42.
	f := fires(t, host.SerialClient{}, b, kasoku.High, "do not use 94.0 % of the host's CPU")
	if e := f.Evidence[1]; e.Value != "0.12 cores" {
		t.Errorf("%s of the service and its load", e.Value)
	}
	statesNeighbours(t, host.SerialClient{}, b, "Programs outside of the service use 0.55 of 2 cores.")
}

// TestNeighbours_Tree: programs that a member starts are its own CPU, and no one's else.
func TestNeighbours_Tree(t *testing.T) {
	tree := func(b *build, instance string, cores float64) *build {
		return b.counts(kasoku.Key{Source: diagnose.Process, Name: process.TreeCPU, Instance: instance}, 0, 0, 10*cores)
	}
	b := ladder().cpu(0.1, 1.8).program("10 mysqld", 0.1, 1e9).program("20 shop", 0.2, 1e8).program("30 kasoku", 0.1, 5e7).
		level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).measured()
	quietOrBlind(t, host.AppCPU{}, b)
	fires(t, host.AppCPU{}, tree(b, "20 shop", 1.45), kasoku.Medium, "shop uses 1.45 of 2 cores, mysqld 0.10")
	statesNeighbours(t, host.AppCPU{}, b, "Programs outside of the service use 0.25 of 2 cores.")
	if got := diagnose.Summarise(b.Recording).Bottleneck; got != "shop 1.45 of 2 cores" {
		t.Errorf("bottleneck %q", got)
	}
}

// TestNeighbours_Memory: of memory and disks what neighbours have is said too, and that it
// is not known is.
func TestNeighbours_Memory(t *testing.T) {
	c := ladder().cpu(0.1, 1.9).program("10 mysqld", 1.2, 1e9).program("20 shop", 0.2, 1e8).program("91 java", 0.1, 1e9).measured()
	mem := func(name string, bytes float64) {
		c.add(kasoku.Key{Source: diagnose.Host, Name: "mem." + name}, kasoku.Gauge, func(int) float64 { return bytes })
	}
	mem("total", 4<<30)
	mem("available", 1<<30)
	said := func(of diagnose.Pressure, want string) {
		t.Helper()
		r := about{host.DBBound{}, of}
		if f := diagnose.Diagnose(c.alone(), []diagnose.Rule{r}).Findings; len(f) != 1 || !strings.HasSuffix(f[0].Cause, " "+want) {
			t.Errorf("does not say %q: %+v", want, f)
		}
	}
	said(diagnose.OnMemory, "Programs outside of the service, with the kernel, hold 2.0 GiB of 4.0 GiB.")
	said(diagnose.OnDisk, "How much of the disk programs outside of the service use was not recorded.")
	writes := map[string]float64{"10 mysqld": 30e6, "91 java": 20e6}
	for instance, bytes := range writes {
		c.counts(kasoku.Key{Source: diagnose.Process, Name: process.IOWriteBytes, Instance: instance}, 0, 0, bytes)
	}
	// Of two members it was not recorded: neighbours would have their part.
	said(diagnose.OnDisk, "How much of the disk programs outside of the service use was not recorded.")
	writes["5 nginx"], writes["20 shop"] = 0, 0
	for instance, bytes := range writes {
		c.counts(kasoku.Key{Source: diagnose.Process, Name: process.IOWriteBytes, Instance: instance}, 0, 0, bytes)
	}
	said(diagnose.OnDisk, "Programs outside of the service read and write 2.0 MB of the 5.0 MB a second that processes do on disks.")
	shown := fmt.Sprint(recording.Show(c.alone().Recording, report.Options{}).Facts)
	if want := " of 2 cores, 40.0 % of the bytes on disks"; !strings.Contains(shown, want) {
		t.Errorf("the page does not say %q: %s", want, shown)
	}
}

// about is a rule whose findings are about something else.
type about struct {
	diagnose.Rule
	of diagnose.Pressure
}

func (a about) Doc() diagnose.Doc {
	d := a.Rule.Doc()
	d.Host = []diagnose.Pressure{a.of}
	return d
}

// TestNeighbours_Pool: sockets that others leave in TIME_WAIT are no evidence, and a
// language without a pool is not advised to size one.
func TestNeighbours_Pool(t *testing.T) {
	all, err := filepath.Glob("testdata/POOL-01/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err, all)
	}
	rec := recordedCase(t, all[0])
	finding := func() kasoku.Finding {
		f, s := (pool.IdlePool{}).Check(diagnose.NewCase(rec, nil))
		if len(f) != 1 {
			t.Fatalf("silent: %+v", s)
		}
		return f[0]
	}
	if f := finding(); strings.Contains(fmt.Sprint(f.Evidence), "TIME_WAIT") {
		t.Errorf("sockets of the whole host are evidence: %+v", f.Evidence)
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{
		{ID: "d", Role: kasoku.RoleDatabase, Sure: kasoku.High, Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:3399"}}},
		{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: "php"}}}
	f := finding()
	if strings.Contains(fmt.Sprint(f.Evidence), "TIME_WAIT") {
		t.Errorf("others' sockets are evidence: %+v", f.Evidence)
	}
	if !strings.Contains(f.Cause, "PHP has no pool") || strings.Contains(f.Cause+f.Fixes[0].Text+f.Fixes[0].Code, "database/sql") || f.Fixes[0].Lang != "php" {
		t.Errorf("cause %q, fix %+v", f.Cause, f.Fixes[0])
	}
}

// recordedCase reads a case that fires.
func recordedCase(t *testing.T, path string) *kasoku.Recording {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rec, _, err := extract.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestNeighbours_Forks: a shell of a build that waits for programs is not named as what
// requests start.
func TestNeighbours_Forks(t *testing.T) {
	rec := recordedCase(t, "testdata/APP-02/fires/mariadb-bare.txtar")
	waits := func() bool {
		found, _ := (application.Forks{}).Check(diagnose.NewCase(rec, nil))
		return strings.Contains(fmt.Sprint(found), "CPU of programs that ")
	}
	if !waits() {
		t.Fatal("the case does not fire")
	}
	of := func(pid int) {
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High,
			Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}}}}
	}
	found, _ := (application.Forks{}).Check(diagnose.NewCase(rec, nil))
	for _, e := range found[0].Evidence {
		if _, who, ok := strings.Cut(e.Text, "CPU of programs that "); ok && (who == "" || who[0] >= '0' && who[0] <= '9') {
			t.Errorf("a process number reads like a count: %q", e.Text)
		}
	}
	pid := 0
	for _, s := range rec.FindAll(diagnose.Process, "cpu.children") {
		number, _, _ := strings.Cut(s.Key.Instance, " ")
		pid, _ = strconv.Atoi(number)
	}
	if of(pid); !waits() {
		t.Error("the member that waits is not named")
	}
	if of(pid + 100_000); waits() {
		t.Error("a program that is no member is named")
	}
}

// TestNeighbours_Nginx: another nginx's configuration is not quoted.
func TestNeighbours_Nginx(t *testing.T) {
	all, err := filepath.Glob("testdata/NGX-01/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err, all)
	}
	rec := recordedCase(t, all[0])
	found := func() int {
		f, _ := (web.UpstreamKeepalive{}).Check(diagnose.NewCase(rec, nil))
		return len(f)
	}
	if found() == 0 {
		t.Fatal("the case does not fire")
	}
	of := func(configs ...string) {
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "w", Role: kasoku.RoleWeb, Sure: kasoku.High, Configs: configs}}}
	}
	var own []string
	for _, c := range rec.Configs {
		own = append(own, c.Name)
	}
	if of(own...); found() == 0 {
		t.Error("the member's own configuration is not read")
	}
	if of("/srv/another/nginx.conf"); found() != 0 {
		t.Error("another nginx's configuration is quoted")
	}
	rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High}}}
	if found() != 0 {
		t.Error("a service without a web server is given a stranger's")
	}
}

// TestNeighbours_Static: NGX-02 passes requests on as the member's nginx does, never as
// another one's that is in the run too.
func TestNeighbours_Static(t *testing.T) {
	all, err := filepath.Glob("testdata/NGX-02/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err, all)
	}
	rec := recordedCase(t, all[0])
	rec.Settings = append(rec.Settings, kasoku.Setting{Scope: kasoku.FilesScope, Name: "/look/depot.css", Value: "/srv/files"})
	for _, name := range []string{"another", "own"} {
		rec.Configs = append(rec.Configs, kasoku.Config{Kind: capture.KindNginx, Name: "/srv/" + name + "/nginx.conf",
			Text: "http { server { listen 80; location / { proxy_pass http://" + name + ":3000; } } }"})
	}
	of := func(configs ...string) string {
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "w", Role: kasoku.RoleWeb, Sure: kasoku.High, Configs: configs}}}
		found, silent := (web.StaticFiles{}).Check(diagnose.NewCase(rec, nil))
		return fmt.Sprintf("%+v %+v", found, silent)
	}
	if said := of("/srv/own/nginx.conf"); !strings.Contains(said, "proxy_pass http://own:3000") || strings.Contains(said, "another") {
		t.Errorf("the member's own configuration is not what is read: %s", said)
	}
	if said := of("/srv/third/nginx.conf"); strings.Contains(said, "another") || strings.Contains(said, "http://own") {
		t.Errorf("another nginx's configuration is quoted: %s", said)
	}
}

// TestNeighbours_Opened: connections that others of the host open are not counted for the
// requests of nginx, and what was counted says of what.
func TestNeighbours_Opened(t *testing.T) {
	all, err := filepath.Glob("testdata/NGX-01/fires/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal(err, all)
	}
	counted := 0
	for _, path := range all {
		rec := recordedCase(t, path)
		for i := range rec.Series {
			if s := &rec.Series[i]; s.Key.Source == diagnose.Host && s.Key.Name == "tcp.active_opens" {
				for k := range s.Points {
					s.Points[k].Value *= 5
				}
			}
		}
		f, _ := (web.UpstreamKeepalive{}).Check(diagnose.NewCase(rec, nil))
		if len(f) != 1 {
			t.Fatalf("%s: %d findings", path, len(f))
		}
		for _, e := range f[0].Evidence {
			if e.Source == "access" && strings.Contains(e.Text, "upstream_connect_time") {
				continue
			}
			if !strings.Contains(e.Text, "connections that the host opened") {
				continue
			}
			counted++
			if !strings.HasPrefix(e.Note, "by all programs, while ") || strings.Contains(f[0].Cause, " for each of ") ||
				!strings.Contains(f[0].Cause, "other programs of the host open some too") {
				t.Errorf("%s: %q, %s", path, e.Note, f[0].Cause)
			}
		}
	}
	if counted == 0 {
		t.Error("no case counts the connections of the host")
	}
}

// TestNeighbours_Bottleneck: what neighbours use is theirs in a list of runs too, and the
// nearest limit says so.
func TestNeighbours_Bottleneck(t *testing.T) {
	b := ladder().cpu(0.1, 1.85).program("10 mysqld", 0.1, 1e9).program("20 shop", 0.15, 1e8).program("30 kasoku", 0.1, 5e7).
		level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).program("91 mysqld", 0.8, 1e9).program("92 mysqld", 0.8, 1e9).measured()
	if got := diagnose.Summarise(b.Recording).Bottleneck; !strings.HasPrefix(got, "neighbours 1.60 of 2 cores") {
		t.Errorf("bottleneck %q", got)
	}
	if l, ok := b.alone().Hosts().NearestLimit(); !ok || l.Text != "CPU, 1.95 of 2 cores busy, 1.60 by neighbours" {
		t.Errorf("nearest limit %q", l.Text)
	}
	if s := diagnose.Summarise(b.Recording); s.CPU > s.LoadTime*3/10 {
		t.Errorf("CPU %s in %s: not the service's alone", s.CPU, s.LoadTime)
	}
}

// TestAppCPU_Unhurried: where the host has CPU left, a program that computes for most of slow requests' time
// is what makes them slow; where they are quick, or wait for something else, it is not.
func TestAppCPU_Unhurried(t *testing.T) {
	// Requests of so long, ten a second.
	b := func(each time.Duration, app float64, statements time.Duration) *build {
		b := ladder().cpu(0.1, app+0.1).program("10 mysqld", 0.1, 1e9).program("20 shop", app, 1e8).measured().accessLog()
		b.Load, b.Steps, b.Seconds = nil, nil, nil
		e := &b.Endpoints[0]
		clear(e.Seconds)
		for s := 29; s < 39; s++ {
			e.Seconds[s] = kasoku.EndpointSecond{Count: 10}
		}
		e.Count, e.Total = 100, 100*each
		b.Queries = []kasoku.Query{{ID: "1", Fingerprint: "select * from orders", Verb: "SELECT", Calls: 100, Total: statements}}
		return b
	}
	const ms = time.Millisecond
	f := fires(t, host.AppCPU{}, b(100*ms, 0.6, time.Second), kasoku.Medium, "That is 60.0 ms of CPU for each request. The host has CPU left")
	if f.Severity != kasoku.Info {
		t.Errorf("%+v", f)
	}
	fires(t, host.AppCPU{}, b(25*ms, 0.2, 100*ms), kasoku.Medium, "20.0 ms of CPU")
	silent(t, host.AppCPU{}, b(25*ms, 0.19, 100*ms), 0, 0.99, "the host was")
	silent(t, host.AppCPU{}, b(100*ms, 0.49, time.Second), 0, 0.99, "the host was")
	silent(t, host.AppCPU{}, b(100*ms, 0.6, 4100*ms), 0, 0.99, "the host was")
	fires(t, host.AppCPU{}, b(30*ms, 0.4, 100*ms), kasoku.Medium, "computes in 100 % of its requests' time")
	silent(t, host.AppCPU{}, b(30*ms, 0.45, 100*ms), 0, 0, "it works beside them")
	known := b(100*ms, 0.6, time.Second)
	known.Callers = []kasoku.Caller{{QueryID: "1", Method: known.Endpoints[0].Method, Route: known.Endpoints[0].Route, Calls: 100, Class: kasoku.CallerConfirmed}}
	f = fires(t, host.AppCPU{}, known, kasoku.Medium, "computes in 60.0 %")
	if e := f.Evidence[len(f.Evidence)-1]; !strings.HasSuffix(e.Note, "of request time; 1,000 ms of it in statements") {
		t.Errorf("%+v", f.Evidence)
	}
	known.Queries[0].Total = 3100 * ms // not where the program computes
	for _, e := range fires(t, host.AppCPU{}, known, kasoku.Medium, "computes in 60.0 %").Evidence {
		if e.Source == "access" && strings.Contains(e.Note, "of request time") {
			t.Errorf("%+v", e)
		}
	}
}

// TestAppCPU_Beside: where neighbours use most of the host, the application's part of its
// requests' time says what a request costs.
func TestAppCPU_Beside(t *testing.T) {
	// Ten requests a second of 100 ms: one is in flight.
	b := func(app float64, statements time.Duration) *build {
		b := ladder().cpu(0.1, 1.85).program("10 mysqld", 0.1, 1e9).program("20 shop", app, 1e8).
			program("30 kasoku", 0.1, 5e7).level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30).
			program("94 cc1plus", 1.3, 1e9).measured().accessLog()
		b.Load, b.Steps, b.Seconds = nil, nil, nil
		e := &b.Endpoints[0]
		e.Total = time.Duration(e.Count) * 100 * time.Millisecond
		clear(e.Seconds)
		for s := 29; s < 39; s++ {
			e.Seconds[s] = kasoku.EndpointSecond{Count: 10}
		}
		e.Count, e.Total = 100, 10*time.Second
		b.Queries = []kasoku.Query{{ID: "1", Fingerprint: "select * from orders", Verb: "SELECT", Calls: 100,
			Total: statements}}
		return b
	}
	f := fires(t, host.AppCPU{}, b(0.45, 2*time.Second), kasoku.Medium,
		"The application, shop, computes in 45.0 % of its requests' time")
	if f.Severity != kasoku.Info || f.Impact.Of != "of request time" ||
		!strings.Contains(f.Cause, "Statements took 20.0 %") {
		t.Errorf("%+v", f)
	}
	wait := kasoku.Key{Source: diagnose.Process, Name: process.ThreadWait, Instance: "20/21 shop"}
	other := wait
	other.Instance = "200/201 other"
	waits := b(0.45, 2*time.Second).counts(wait, 0, 0, 3).counts(other, 0, 0, 9)
	f = fires(t, host.AppCPU{}, waits, kasoku.Medium, "Its busiest threads waited for a core for ")
	if e := f.Evidence[3]; len(e.Series) != 1 || e.Number > 0.3 {
		t.Errorf("a stranger's thread counts: %+v", e)
	}
	silent(t, host.AppCPU{}, b(0.2, time.Second), 0.6, 0.7, "the thresholds are 30.0 %")
	// What waits for a core most of the time computes little of it.
	fires(t, host.AppCPU{}, b(0.2, time.Second).counts(wait, 0, 0, 4.5), kasoku.Medium, "computes in 20.0 % of its requests' time")
	silent(t, host.AppCPU{}, b(0.2, time.Second).counts(wait, 0, 0, 3.5), 0.6, 0.7, "the thresholds are 30.0 %")
	silent(t, host.AppCPU{}, b(0.19, time.Second).counts(wait, 0, 0, 8), 0.9, 0.99, "shop computed 19.0 ms for each request")
	// The statements' part has what the database waits for a core in it, the program's has not.
	fires(t, host.AppCPU{}, b(0.45, 4*time.Second), kasoku.Medium, "Statements took 40.0 %")
	silent(t, host.AppCPU{}, b(0.45, 5*time.Second), 0.88, 0.92, "statements took 50.0 %")
	beside := b(0.6, time.Second)
	beside.Endpoints[0].Total = 5 * time.Second
	silent(t, host.AppCPU{}, beside, 0, 0, "it works beside them")
	untimed := b(0.45, time.Second)
	untimed.Endpoints[0].Total = 0
	silent(t, host.AppCPU{}, untimed, 0, 0, "programs outside of the service use")
	unlogged := b(0.45, time.Second)
	unlogged.Queries = nil
	silent(t, host.AppCPU{}, unlogged, 0, 0, "programs outside of the service use")
}
