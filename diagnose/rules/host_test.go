package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/host"
	"github.com/kasoku/kasoku/diagnose/rules/limit"
	"github.com/kasoku/kasoku/diagnose/rules/measurement"
)

// strangers is the number from which processes of builds are no member of the service.
const strangers = 90

// serves makes a process a member of the service, and its unit.
func (b *build) serves(instance string) *build {
	number, name, _ := strings.Cut(instance, " ")
	pid, err := strconv.Atoi(number)
	if err != nil || pid >= strangers || slices.Contains([]string{"kasoku", "wrk", "kworker/0:1"}, name) {
		return b
	}
	role := kasoku.RoleApplication
	switch name {
	case "nginx":
		role = kasoku.RoleWeb
	case "mysqld", "mariadbd", "postgres":
		role = kasoku.RoleDatabase
	}
	s := &kasoku.Service{}
	if b.Service != nil {
		s.Members = slices.Clone(b.Service.Members)
	}
	if i := slices.IndexFunc(s.Members, func(m kasoku.Member) bool { return m.Program == name }); i >= 0 {
		s.Members[i].Processes = append(slices.Clone(s.Members[i].Processes), kasoku.MemberProcess{PID: pid})
	} else {
		s.Members = append(s.Members, kasoku.Member{ID: name, Role: role, Program: name, Unit: name + ".service",
			Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}})
	}
	b.Service = s
	return b
}

// program puts a process that uses so many cores in step 3, a member of the service.
func (b *build) program(instance string, cores, rss float64) *build {
	b.serves(instance)
	b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: instance}, 0, 0, cores*8)
	b.counts(kasoku.Key{Source: diagnose.Process, Name: "cpu.system", Instance: instance}, 0, 0, cores*2)
	return b.level(kasoku.Key{Source: diagnose.Process, Name: "rss", Instance: instance}, rss)
}

// level puts a gauge that does not change.
func (b *build) level(k kasoku.Key, value float64) *build {
	return b.add(k, kasoku.Gauge, func(int) float64 { return value })
}

// stackOn puts what a database, an app and kasoku use of two cores.
func stackOn(db, app, own float64) *build {
	b := ladder().cpu(own, db+app).program("10 mysqld", db, 1e9).program("20 shop", app, 1e8).program("30 kasoku", own, 5e7)
	return b.level(kasoku.Key{Source: diagnose.Self, Name: "pid"}, 30)
}

// slowed makes step 3 an order of magnitude slower than step 1.
func (b *build) slowed() *build { return b.latency(3, time.Second, 0) }

func TestDBBound(t *testing.T) {
	r := host.DBBound{}
	f := fires(t, r, stackOn(1.4, 0.3, 0.1), kasoku.Medium, "mysqld uses 1.40 of 2 cores, shop 0.30, the load's generator and kasoku 0.10")
	if f.Severity != kasoku.Info || f.Impact.Share < 0.82 || f.Impact.Share > 0.83 || !strings.Contains(f.Expect, "1.40 ms") {
		t.Errorf("%s, impact %+v, expect %q", f.Severity, f.Impact, f.Expect)
	}
	// Slow for want of CPU, with the generator elsewhere or small.
	f = fires(t, r, stackOn(1.5, 0.35, 0.1).slowed(), kasoku.High, "process mysqld")
	if f.Severity != kasoku.Problem || f.Clause != "mysqld uses 1.50 of 2 cores" {
		t.Errorf("%s %q", f.Severity, f.Clause)
	}
	// A generator on the same host is to go first, and the finding stays a remark.
	f = fires(t, r, stackOn(1.2, 0.2, 0.5).slowed(), kasoku.Medium, "the load's generator runs on the same host")
	if f.Severity != kasoku.Info || !strings.Contains(f.Fixes[len(f.Fixes)-1].Text, "from another machine") {
		t.Errorf("%s, fixes %+v", f.Severity, f.Fixes)
	}
	// The slow log names where to begin.
	b := stackOn(1.4, 0.3, 0.1)
	b.Queries = []kasoku.Query{{Fingerprint: "select ?", Total: time.Second, Calls: 9}, {Fingerprint: "select sum(price) from orders where shop = ?", Total: 9 * time.Second, Calls: 70, RowsExamined: 7_000_000, RowsSent: 70}}
	f = fires(t, r, b, kasoku.Medium, "mysqld")
	if !strings.Contains(f.Fixes[0].Text, "select sum(price)") || f.Fixes[0].Note != "It takes 90.0 % of the query time in 70 calls and examines 7,000,000 rows to send 70." {
		t.Errorf("fix %+v", f.Fixes[0])
	}
	silent(t, r, stackOn(1.0, 0.7, 0.1), 0.97, 0.99, "mysqld used 58.8 % of the service's CPU")
	silent(t, r, stackOn(0.9, 0.1, 0.1), 0.7, 0.8, "the host was 55.0 % busy")
	blind(t, r, ladder(), "no process was recorded")
	blind(t, r, ladder().cpu(0.1, 1).program("20 shop", 1, 1), "no process of a database server")
	blind(t, r, stackOn(1.4, 0.3, 0.1).drop(diagnose.Host, "", ""), "the host was not recorded")
}

func TestSharedCPU(t *testing.T) {
	r := host.SharedCPU{}
	f := fires(t, r, stackOn(1.0, 0.8, 0.1), kasoku.Medium, "requests took no longer")
	if !strings.Contains(f.Cause, "mysqld uses 1.00 of 2 cores, shop 0.80") || f.Severity != kasoku.Info || !strings.Contains(f.Expect, "at most 1.90 times") || len(f.Fixes) != 1 {
		t.Errorf("%s, expect %q, fixes %+v", f.Severity, f.Expect, f.Fixes)
	}
	// The larger of the two bounds the gain.
	if f = fires(t, r, stackOn(0.5, 1.4, 0.1), kasoku.Medium, "host CPU"); !strings.Contains(f.Expect, "1.33 times") {
		t.Errorf("expect %q", f.Expect)
	}
	f = fires(t, r, stackOn(0.7, 0.6, 0.6), kasoku.Low, "the load's generator runs on the same host")
	if len(f.Fixes) != 2 || !strings.Contains(f.Fixes[0].Text, "from another machine") {
		t.Errorf("fixes %+v", f.Fixes)
	}
	if f = fires(t, r, stackOn(1.0, 0.8, 0.1).slowed(), kasoku.High, "host CPU"); f.Severity != kasoku.Problem {
		t.Error(f.Severity)
	}
	silent(t, r, stackOn(1.4, 0.45, 0.1), 0.89, 0.91, "shop 22.5 %")
	silent(t, r, stackOn(0.8, 0.8, 0.1), 0.94, 0.95, "the host was 85.0 % busy")
	blind(t, r, ladder().cpu(0.1, 1.4).program("10 mysqld", 1.4, 1), "no other process")
}

// TestPrograms: who is the database, the generator, kasoku and the app.
func TestPrograms(t *testing.T) {
	b := stackOn(0.5, 0.4, 0.3)
	b.program("40 postgres", 0.1, 1).program("41 postgres", 0.2, 1).program("50 wrk", 0.1, 1).program("60 kworker/0:1", 0.1, 1).program("70 kasoku", 0.1, 1)
	want := map[string]string{"mysqld": "1 1 0.50", "shop": "0 1 0.40", "kasoku": "2 2 0.40", "postgres": "1 2 0.30", "wrk": "5 1 0.10", "kworker/0:1": "4 1 0.10"}
	check := func() {
		t.Helper()
		programs, err := b.alone().Processes().Programs()
		if err != nil || len(programs) != len(want) {
			t.Fatalf("%+v, %v", programs, err)
		}
		for _, p := range programs {
			if got := fmt.Sprintf("%d %d %.2f", p.Role, p.Processes, p.Cores); got != want[p.Name] {
				t.Errorf("%s: %s, want %s", p.Name, got, want[p.Name])
			}
		}
	}
	check()
	// A command made the load: kasoku only records.
	b.Load = nil
	b.Run.Command = &kasoku.Command{Args: []string{"sh", "-c", "/opt/shop --fast"}}
	want["kasoku"] = "3 2 0.40" // a member stays one, whatever its name
	want["wrk"] = "2 1 0.10"    // what the command started
	check()
	// Of whom they are is not known: nothing is said of them, and of a database neither.
	b.Service = nil
	want["shop"], want["mysqld"], want["postgres"] = "2 1 0.40", "6 1 0.50", "6 2 0.30"
	check()
	if all, err := b.alone().Processes().Members(); !errors.Is(err, diagnose.ErrNoService) {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestInterval(t *testing.T) {
	r := measurement.Interval{}
	long := func(seconds int, from ...int) *build {
		b := ladder()
		for i := range b.Steps {
			b.Steps[i].Planned = time.Duration(seconds) * time.Second
			b.Steps[i].Interval.To = b.Steps[i].Interval.From + b.Steps[i].Planned
		}
		for _, i := range from {
			b.Steps[i].Interval.To -= 7 * time.Second
		}
		return b
	}
	f := fires(t, r, long(4), kasoku.High, "A sample every 1 s is too coarse for a load step of 4 s")
	if f.Severity != kasoku.Info || !strings.HasSuffix(f.Fixes[1].Text, "--interval 400ms") || f.Fixes[0].Note != "At the present interval that is 10 s." {
		t.Errorf("%s, fixes %+v", f.Severity, f.Fixes)
	}
	silent(t, r, ladder(), 0.5, 0.5, "a sample every 1 s for a load step of 10 s")
	silent(t, r, long(11), 0.45, 0.46, "11 s")
	// A step that was cut short had its length planned.
	silent(t, r, long(10, 2), 0.5, 0.5, "10 s")
	b := ladder()
	b.Steps = nil
	silent(t, r, b, 0.1, 0.13, "a run of 42 s")
	b.Phases = []kasoku.Phase{{Kind: kasoku.PhaseVerify, Interval: kasoku.Interval{To: time.Second}}, {Kind: kasoku.PhaseLoad, Interval: kasoku.Interval{From: time.Second, To: 6 * time.Second}}}
	fires(t, r, b, kasoku.High, "a load phase of 5 s")
	b.Series = nil
	blind(t, r, b, "nothing was sampled")
}

// bursting is a run without steps: so many requests a second, and others in one.
func bursting(n, second, others int) *build {
	b := ladder()
	b.Steps, b.Seconds, b.Load = nil, nil, nil
	e := kasoku.Endpoint{Method: "GET", Route: "/orders", Codes: map[int]uint64{}, Seconds: map[int]kasoku.EndpointSecond{}}
	for s := 3; s < 39; s++ {
		e.Seconds[s] = kasoku.EndpointSecond{Count: uint64(n)}
	}
	e.Seconds[second] = kasoku.EndpointSecond{Count: uint64(others)}
	b.Endpoints = []kasoku.Endpoint{e}
	// 0.1 cores, and two in that second.
	return b.drop(diagnose.Host, "", "").add(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, kasoku.Counter, func(s int) float64 {
		idle := 1.9 * float64(s)
		if s > second {
			idle -= 1.9
		}
		return idle
	})
}

func TestBurst(t *testing.T) {
	r := host.Burst{}
	f := fires(t, r, bursting(100, 20, 1000), kasoku.High, "A burst: 1,000 req/s in one second, 8.00 times the mean")
	if f.Severity != kasoku.Info || !strings.Contains(f.Cause, "At 14:02:31 1,000 req/s came") || !strings.Contains(f.Cause, "A one-minute average shows 125 req/s") || !strings.HasSuffix(f.Cause, "Only then the host's CPU was used up.") {
		t.Errorf("%s, cause %q", f.Severity, f.Cause)
	}
	// The CPU alone.
	f = fires(t, r, bursting(100, 20, 100), kasoku.Low, "A burst: 2.00 cores")
	if strings.Contains(f.Fixes[1].Text, "Size CPU") {
		t.Errorf("sizes the service for what may be anyone's: %+v", f.Fixes)
	}
	if !strings.Contains(f.Cause, "the host used 2.00 cores for a second") || f.Impact.Of != "of all CPU" {
		t.Errorf("impact %+v", f.Impact)
	}
	// CPU that is used up throughout is not used up then.
	busy := bursting(100, 20, 1000).add(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, kasoku.Counter,
		func(s int) float64 { return 0.05 * float64(s) })
	if f = fires(t, r, busy, kasoku.Medium, "1,000 req/s"); strings.Contains(f.Cause, "Only then") {
		t.Error(f.Cause)
	}
	// The CPU of a neighbour's second is no burst of the service; that of its programs is.
	used := func(name string) *build {
		b := bursting(100, 20, 100).serves("20 shop")
		for _, instance := range []string{"20 shop", "90001 cc1plus"} {
			b.add(kasoku.Key{Source: diagnose.Process, Name: "cpu.user", Instance: instance}, kasoku.Counter,
				func(s int) float64 {
					if s > 20 && instance == name {
						return 0.05*float64(s) + 1.9
					}
					return 0.05 * float64(s)
				})
		}
		return b
	}
	f = fires(t, r, used("20 shop"), kasoku.Medium, "A burst: 2.00 cores")
	if !strings.Contains(f.Fixes[1].Text, "Size CPU") {
		t.Errorf("%+v", f.Fixes)
	}
	keepsQuiet(t, r, used("90001 cc1plus").alone(), false, "programs of the service < 0.1 % of the rise")
	calm := func(n, others int) *build {
		return bursting(n, 20, others).add(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, kasoku.Counter, func(s int) float64 { return 1.9 * float64(s) })
	}
	silent(t, r, calm(100, 300), 0.9, 0.96, "the busiest second has 300 req/s")
	silent(t, r, calm(10, 45), 0.89, 0.91, "and 50 req/s")
	// A second load is no burst.
	b := calm(100, 1000)
	for s := 21; s < 26; s++ {
		b.Endpoints[0].Seconds[s] = kasoku.EndpointSecond{Count: 1000}
	}
	silent(t, r, b, 0, 0.11, "")
	// Within a step only that step counts, and it is too short.
	silent(t, r, ladder(), 0, 0.01, "the thresholds are 3 times")
	b = ladder()
	b.Steps[2].Interval.To -= time.Second
	blind(t, r, b, "less than 10 s")
	b = bursting(100, 20, 1000)
	b.Endpoints = nil
	b.drop(diagnose.Host, "", "")
	blind(t, r, b, "neither requests nor the host's CPU")
}

func (b *build) host(name string, value float64) *build {
	return b.level(kasoku.Key{Source: diagnose.Host, Name: name}, value)
}

func TestMemory(t *testing.T) {
	r := host.Memory{}
	roomy := func() *build {
		return stackOn(0.5, 0.4, 0.1).host("mem.total", 8<<30).host("mem.available", 4<<30).
			counts(kasoku.Key{Source: diagnose.Host, Name: "vm.oom_kill"}, 0, 0, 0).counts(kasoku.Key{Source: diagnose.Host, Name: "psi.memory.some"}, 0, 0, 0)
	}
	few := func() *build { return roomy().host("mem.available", 8<<30*0.049) }
	f := fires(t, r, few(), kasoku.Low, "Of the service most is held by mysqld 954 MiB, shop 95.4 MiB")
	if f.Severity != kasoku.Problem || f.Object.String() != "host memory" || !strings.Contains(f.Fixes[0].Text, "mysqld") {
		t.Errorf("%s %s, fixes %+v", f.Severity, f.Object, f.Fixes)
	}
	fires(t, r, few().said("error", "", "exec: cannot allocate memory", false, 50).counts(kasoku.Key{Source: diagnose.Host, Name: "vm.pswpout"}, 0, 0, 9000), kasoku.High, "The host swaps")
	fires(t, r, roomy().counts(kasoku.Key{Source: diagnose.Host, Name: "vm.pswpin"}, 0, 0, 2900), kasoku.Low, "The host swaps")
	fires(t, r, roomy().counts(kasoku.Key{Source: diagnose.Host, Name: "psi.memory.some"}, 0, 0, 1.2), kasoku.Low, "too small")
	kills := func(b *build) *build {
		return b.counts(kasoku.Key{Source: diagnose.Host, Name: "vm.oom_kill"}, 0, 0, 1)
	}
	fires(t, r, kills(roomy().host("mem.available", 8<<30*0.09)), kasoku.Low, "The host runs out of memory and kills a process")
	fires(t, r, kills(roomy().counts(kasoku.Key{Source: diagnose.Host, Name: "vm.allocstall"}, 0, 0, 5)), kasoku.Low, "The host runs out of memory and kills a process")
	// A limit of the process: the host has memory left.
	f = fires(t, r, roomy().said("error", "", "mmap: cannot allocate memory", false, 500).fail(3, 500, 500, "500"), kasoku.High, "ulimit -v")
	if f.Object.String() != "limit memory" || f.Impact.Share < 0.049 || f.Impact.Share > 0.051 {
		t.Errorf("%s, impact %+v", f.Object, f.Impact)
	}
	// A limit of its control group.
	cg := func(name string) kasoku.Key {
		return kasoku.Key{Source: diagnose.Cgroup, Name: name, Instance: "shop.service"}
	}
	ownKill := func(b *build) *build {
		return kills(b).counts(cg("memory.events.oom_kill"), 0, 0, 2).counts(cg("memory.events.oom"), 0, 0, 0)
	}
	full := ownKill(roomy()).level(cg("memory.max"), 256<<20).counts(cg("memory.events.oom"), 0, 0, 2)
	fires(t, r, full, kasoku.Low, "The control group shop.service with memory.max 256 MiB ran full")
	older := ownKill(roomy()).level(cg("memory.max"), 256<<20).drop(diagnose.Cgroup, "memory.events.oom", "shop.service").counts(cg("memory.events.max"), 0, 0, 90)
	fires(t, r, older, kasoku.Low, "ran full") // version 1
	// The host, or a group above, kills what is in a group that has no limit, or is not at it.
	f = fires(t, r, ownKill(roomy().host("mem.available", 8<<30*0.09)), kasoku.Low, "What runs on this host needs more memory than it has.")
	if f.Object.String() != "host memory" || !strings.Contains(f.Fixes[0].Text, "mysqld") {
		t.Errorf("%s, fixes %+v", f.Object, f.Fixes)
	}
	fires(t, r, ownKill(roomy()).level(cg("memory.max"), 256<<20), kasoku.Low, "not seen to run into a limit of its own")
	silent(t, r, roomy(), 0.09, 0.11, "4.0 GiB of 8.0 GiB was available at least")
	// A neighbour's control group ran into its limit.
	for _, left := range []float64{7, 3} {
		silent(t, r, kills(roomy().host("mem.available", left*(1<<30))), 0, 0.14, "for a limit of its own")
	}
	f = fires(t, r, kills(roomy()).said("error", "", "mmap: cannot allocate memory", false, 500), kasoku.High, "Memory is refused")
	if s := fmt.Sprint(f.Evidence); strings.Contains(s, "oom_kill") {
		t.Error("quotes the neighbour's kill: ", s)
	}
	silent(t, r, roomy().host("mem.available", 8<<30*0.052), 0.96, 0.97, "5.0 %")
	silent(t, r, roomy().said("error", "", "Out of sort memory", false, 50), 0.09, 0.11, "no log says")
	silent(t, r, ladder().said("info", "", "all is well", false, 50), 0, 0, "was not recorded")
	blind(t, r, ladder(), "neither the host's memory")
}

// growing puts a level of the host that goes evenly from one value to another.
func (b *build) growing(name string, from, to float64) *build {
	return b.add(kasoku.Key{Source: diagnose.Host, Name: name}, kasoku.Gauge, func(second int) float64 {
		return from + (to-from)*float64(second)/42
	})
}

func TestMemoryBeside(t *testing.T) {
	r := host.MemoryBeside{}
	const gib = 1 << 30
	grown := func(by float64) *build {
		return stackOn(0.5, 0.4, 0.1).measured().program("5 nginx", 0.05, 1e7).host("mem.total", 8*gib).
			growing("mem.anon", 2*gib, (2+by)*gib).growing("mem.available", 5*gib, (5-by)*gib)
	}
	f := fires(t, r, grown(0.5), kasoku.High, "took 512 MiB and kept it to the end")
	if f.Severity != kasoku.Info || f.Impact.Share != 0 || f.Object.String() != "host memory beside the service" {
		t.Errorf("%s %s, impact %+v", f.Severity, f.Object, f.Impact)
	}
	if s := fmt.Sprint(f); !strings.Contains(s, "6.2 % of 8.0 GiB") {
		t.Error(s)
	}
	silent(t, r, grown(0.39), 0.96, 0.99, "took 399 MiB of the host's 8.0 GiB")
	silent(t, r, grown(0), 0, 0, "took 0 B")
	silent(t, r, grown(-1), 0, 0, "took 0 B") // given back
	// The service's own process took it, one that was there and one that came later.
	silent(t, r, grown(0.5).add(kasoku.Key{Source: diagnose.Process, Name: "rss", Instance: "20 shop"}, kasoku.Gauge,
		func(second int) float64 { return 1e8 + 0.5*gib*float64(second)/42 }), 0, 0.01, "took 0 B")
	// What the kernel can take back is none: the memory available stays.
	silent(t, r, grown(0.5).growing("mem.available", 5*gib, 5*gib), 0.98, 1, "")
	// At this pace the rest lasts for hours.
	silent(t, r, grown(0.5).host("mem.total", 8*gib).growing("mem.available", 500*gib, 499*gib), 0.98, 1, "")
	blind(t, r, grown(0.5).drop(diagnose.Process, "rss", "20 shop"),
		"the memory of a process of the service was not recorded")
	b := grown(0.5)
	b.Service = nil
	blind(t, r, b, "which processes are the service's is not known")
	blind(t, r, ladder(), "was not recorded")
}

// TestMemory_Words: what a log says about memory decides which limit is named.
func TestMemory_Words(t *testing.T) {
	r := host.Memory{}
	saying := func(line string) *build {
		return stackOn(0.5, 0.4, 0.1).host("mem.total", 8<<30).host("mem.available", 4<<30).said("error", "", line, false, 50)
	}
	for line, note := range map[string]string{
		"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory": "--max-old-space-size",
		"java.lang.OutOfMemoryError: Java heap space":                                       "-Xmx",
		"java.lang.OutOfMemoryError: GC overhead limit exceeded":                            "-Xmx",
		"java.lang.OutOfMemoryError: Metaspace":                                             "MaxMetaspaceSize",
		"java.lang.OutOfMemoryError: Direct buffer memory":                                  "MaxDirectMemorySize",
	} {
		f := fires(t, r, saying(line), kasoku.High, "limit heap The heap of a runtime is full")
		if len(f.Fixes) != 1 || !strings.Contains(f.Fixes[0].Note, note) || strings.Contains(fmt.Sprint(f), "ulimit") {
			t.Errorf("%s: %+v", line, f)
		}
	}
	silent(t, r, saying("java.lang.OutOfMemoryError: unable to create new native thread"), 0, 0.11, "no log says that memory ran out")
	silent(t, r, saying("java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory"), 0, 0.11, "no log says that memory ran out")
	fires(t, r, saying("shop.service: Failed with result 'oom-kill'."), kasoku.Low, "A process is killed for want of memory, by a log")
	fires(t, r, saying("runtime: out of memory: cannot allocate 4194304-byte block"), kasoku.High, "ulimit -v")
	// Where the host is short the heap is no more than a line.
	fires(t, r, saying("java.lang.OutOfMemoryError: Java heap space").host("mem.available", 8<<30*0.04), kasoku.Low, "host memory")
}

func TestFiles(t *testing.T) {
	r := limit.Files{}
	open := func(used, limit float64) *build {
		return ladder().serves("20 shop").serves("10 mysqld").level(kasoku.Key{Source: diagnose.Process, Name: "fds", Instance: "20 shop"}, used).level(kasoku.Key{Source: diagnose.Process, Name: "fds_limit", Instance: "20 shop"}, limit).
			level(kasoku.Key{Source: diagnose.Process, Name: "fds", Instance: "10 mysqld"}, 100).level(kasoku.Key{Source: diagnose.Process, Name: "fds_limit", Instance: "10 mysqld"}, 32000)
	}
	const line = "accept tcp: too many open files"
	f := fires(t, r, open(1024, 1024).said("error", "", line, false, 500).fail(3, 500, 500, "500"), kasoku.High, "The 1,024 files that shop may open are not enough")
	if f.Impact.Share < 0.049 || f.Impact.Share > 0.051 || !strings.Contains(f.Fixes[0].Code, "LimitNOFILE=524288") || len(f.Fixes) != 1 {
		t.Errorf("impact %+v, fixes %+v", f.Impact, f.Fixes)
	}
	fires(t, r, open(980, 1024), kasoku.Medium, "no application log")
	fires(t, r, open(100, 1024).said("error", "", line, false, 500), kasoku.Medium, "log shop.log")
	f = fires(t, r, ladder().said("crit", "", "accept4() failed (24: Too many open files)", false, 90), kasoku.Medium, "log shop.log")
	if len(f.Fixes) != 2 || !strings.Contains(f.Fixes[1].Code, "worker_rlimit_nofile") {
		t.Errorf("fixes %+v", f.Fixes)
	}
	// A limit that is large already is doubled.
	if f = fires(t, r, open(999_000, 1_000_000), kasoku.Medium, "1,000,000 files"); !strings.Contains(f.Fixes[0].Code, "LimitNOFILE=2000000") {
		t.Errorf("fixes %+v", f.Fixes)
	}
	// A database with half of its files open is not what the app's log speaks of.
	half := ladder().serves("20 shop").serves("10 mysqld").said("error", "", line, false, 500)
	for name, value := range map[string]float64{"fds": 500, "fds_limit": 1024} {
		half.level(kasoku.Key{Source: diagnose.Process, Name: name, Instance: "10 mysqld"}, value)
	}
	if f = fires(t, r, half, kasoku.Medium, "log shop.log"); strings.Contains(fmt.Sprint(f), "mysqld") {
		t.Errorf("%+v", f)
	}
	half.Service.Members[0].Container = "4f1c"
	f = fires(t, r, half, kasoku.Medium, "log shop.log")
	if f.Fixes[0].Code != "--ulimit nofile=524288" || !strings.Contains(f.Fixes[0].Text, "container") {
		t.Errorf("%+v", f.Fixes)
	}
	fires(t, r, open(500, 1024).said("error", "", line, false, 500), kasoku.Medium,
		"The 1,024 files that shop may open")
	// A process at its limit is one, whatever else is said.
	fires(t, r, open(1024, 1024).said("error", "", "inotify_init: too many open files", false, 5), kasoku.Medium,
		"The 1,024 files that shop may open")
	// The kernel's limits for all programs are none of a process.
	for said, want := range map[string]string{
		"accept4 failed: too many open files in system": "fs.file-max",
		"inotify_init: too many open files":             "fs.inotify.max_user_instances",
	} {
		f = fires(t, r, open(600, 1024).said("error", "", said, false, 500), kasoku.Medium, "log shop.log")
		text := fmt.Sprint(f)
		if !strings.Contains(text, want) || strings.Contains(text, "LimitNOFILE=") || strings.Contains(text, "that shop may") {
			t.Error(text)
		}
	}
	silent(t, r, open(972, 1024), 0.99, 1, "20 shop had 972 of 1,024 files open")
	silent(t, r, ladder().said("info", "", "all is well", false, 50), 0, 0, "were not recorded")
	blind(t, r, ladder(), "neither an application's log")
}

func TestTasks(t *testing.T) {
	r := limit.Tasks{}
	cg := func(name string) kasoku.Key {
		return kasoku.Key{Source: diagnose.Cgroup, Name: name, Instance: "shop.service"}
	}
	group := func(most, limit, refused float64) *build {
		return ladder().serves("20 shop").level(cg("pids.current"), most).level(cg("pids.max"), limit).counts(cg("pids.events.max"), 0, 0, refused)
	}
	const line = "fork/exec /usr/bin/convert: resource temporarily unavailable"
	f := fires(t, r, group(64, 64, 500).said("error", "", line, false, 500).fail(3, 500, 500, "500"), kasoku.High, "The 64 tasks that shop.service may hold are not enough")
	if !strings.Contains(f.Fixes[0].Code, "TasksMax=4096") || f.Impact.Share < 0.049 || f.Impact.Share > 0.051 {
		t.Errorf("impact %+v, fixes %+v", f.Impact, f.Fixes)
	}
	fires(t, r, group(60, 64, 3), kasoku.Low, "control group shop.service")
	if f = fires(t, r, group(9000, 9000, 3), kasoku.Medium, "no application log"); !strings.Contains(f.Fixes[0].Code, "TasksMax=36000") {
		t.Errorf("fixes %+v", f.Fixes)
	}
	// The account's limit.
	f = fires(t, r, ladder().said("error", "", line, false, 500), kasoku.Low, "the account's (ulimit -u")
	if !strings.Contains(f.Fixes[0].Code, "LimitNPROC=infinity") || f.Object.String() != "log shop.log" {
		t.Errorf("%s, fixes %+v", f.Object, f.Fixes)
	}
	fires(t, r, ladder().said("", "", "runtime: failed to create new OS thread (have 12 already; errno=11)", false, 10), kasoku.Low, "refused")
	silent(t, r, group(60, 64, 0), 0.93, 0.94, "held 60 of 64 tasks")
	contained := ladder().said("error", "", line, false, 500)
	contained.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Container: "0123456789ab"}}}
	if f = fires(t, r, contained, kasoku.Low, "refused"); f.Fixes[0].Code != "" || !strings.Contains(f.Fixes[0].Note, "--ulimit nproc=-1") {
		t.Errorf("fixes %+v", f.Fixes)
	}
	for _, line := range []string{
		"Resource temporarily unavailable - fork(2) (Errno::EAGAIN)", "can't create Thread: Resource temporarily unavailable (ThreadError)",
		"Error: spawn /usr/bin/convert EAGAIN", "proc_open(): Fork failed - Resource temporarily unavailable",
		`Cannot run program "convert": error=11, Resource temporarily unavailable`, "bash: fork: retry: Resource temporarily unavailable",
		"Can't create a new thread (errno 11 \"Resource temporarily unavailable\")", "libgomp: Thread creation failed: Resource temporarily unavailable",
		"java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or process/resource limits reached",
		`fork() failed while spawning "worker process" (11: Resource temporarily unavailable)`,
		"put: connect to the printer: fork/exec /usr/bin/lp: resource temporarily unavailable",
	} {
		fires(t, r, ladder().said("error", "", line, false, 50), kasoku.Low, "refused")
	}
	// A socket whose backlog is full, or that has nothing to read.
	for _, line := range []string{
		"read: resource temporarily unavailable",
		"tx.Exec: dial unix /run/mysqld/mysqld.sock: connect: resource temporarily unavailable",
		"execute: Resource temporarily unavailable - connect(2) for /run/mysqld/mysqld.sock (Errno::EAGAIN)",
		"Thread-3 BlockingIOError: [Errno 11] Resource temporarily unavailable",
		"connect() to unix:/run/app.sock failed (11: Resource temporarily unavailable) while spawning a request",
	} {
		silent(t, r, ladder().said("error", "", line, false, 50), 0, 0, "no log says")
	}
	blind(t, r, ladder(), "neither an application's log nor control groups")
}
