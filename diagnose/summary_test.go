package diagnose

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
)

// TestSummariseLoad: the best step speaks, not the highest one.
func TestSummariseLoad(t *testing.T) {
	rec := run(at{100, 1, 6, 1, 9 * time.Millisecond}, at{1000, 8, 18, 0.3, 330 * time.Millisecond}, at{2000, 20, 25, 0.1, time.Second})
	s := Summarise(rec)
	if s.Source != "load" || s.Requests != 500+10000+10000 || s.Succeeded != 500+3000+1000 {
		t.Errorf("counted %+v", s)
	}
	if s.PerSec != 300 || s.Asked != 1000 {
		t.Errorf("best step carried %v/s of %v/s, want 300 of 1000", s.PerSec, s.Asked)
	}
	if s.P99 < 300*time.Millisecond || s.P99 > 360*time.Millisecond || s.P50 > s.P99 {
		t.Errorf("p50 %v, p99 %v, want those of the best step", s.P50, s.P99)
	}
	if s.CPU != 0 || s.LoadTime != 0 || s.Bottleneck != "" {
		t.Errorf("made up %+v", s)
	}
}

// TestSummariseWholeSeconds: a step that begins and ends between two seconds is
// judged by those that it filled.
func TestSummariseWholeSeconds(t *testing.T) {
	rec := run(at{100, 1, 5, 1, time.Millisecond})
	rec.Steps[0].Interval = kasoku.Interval{From: 1600 * time.Millisecond, To: 4500 * time.Millisecond}
	rec.Seconds[0].Codes = map[int]uint64{200: 40}
	rec.Seconds[3].Codes = map[int]uint64{200: 50}
	if s := Summarise(rec); s.PerSec != 100 {
		t.Errorf("%v/s, want 100", s.PerSec)
	}
}

// TestSummariseLog: a foreign benchmark is described from the access log, over its
// load phase when that is known.
func TestSummariseLog(t *testing.T) {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: sec(30)}}
	h := histogram.New()
	e := kasoku.Endpoint{Method: "GET", Route: "/", Latency: h, Codes: map[int]uint64{200: 930, 404: 10, 503: 20}, Seconds: map[int]kasoku.EndpointSecond{}}
	e.Count = 960
	h.RecordN(5*time.Millisecond, 960)
	e.Seconds[5] = kasoku.EndpointSecond{Count: 30}
	for s := 6; s < 15; s++ {
		e.Seconds[s] = kasoku.EndpointSecond{Count: 100, Failed: 2}
	}
	e.Seconds[15] = kasoku.EndpointSecond{Count: 30, Failed: 2}
	rec.Endpoints = []kasoku.Endpoint{e}
	s := Summarise(rec)
	if s.Source != "access log" || s.Requests != 960 || s.Succeeded != 940 || s.PerSec != 98 || s.Asked != 0 {
		t.Errorf("busy seconds: %+v", s)
	}
	rec.Phases = []kasoku.Phase{
		{Kind: kasoku.PhaseVerify, Interval: kasoku.Interval{From: sec(5), To: sec(7)}},
		{Kind: kasoku.PhaseLoad, Interval: kasoku.Interval{From: sec(7), To: sec(17)}},
	}
	if s := Summarise(rec); s.PerSec != (8*98+28)/10. {
		t.Errorf("load phase: %v/s, want 81.2", s.PerSec)
	}
}

func TestSummariseNothing(t *testing.T) {
	if s := Summarise(&kasoku.Recording{}); *s != (kasoku.Summary{}) {
		t.Errorf("of nothing %+v", s)
	}
}

// machine adds a host with the CPU that was used and was idle each second.
func machine(rec *kasoku.Recording, name string, cores int, used, idle float64) {
	rec.Run.Hosts = append(rec.Run.Hosts, kasoku.Host{Name: name, Cores: cores})
	steady(rec, kasoku.Key{Host: name, Source: Host, Name: "cpu.user"}, used)
	steady(rec, kasoku.Key{Host: name, Source: Host, Name: "cpu.idle"}, idle)
}

// steady adds a counter that grows by as much each second.
func steady(rec *kasoku.Recording, k kasoku.Key, perSec float64) {
	s := kasoku.Series{Key: k, Kind: kasoku.Counter}
	for i := range int(rec.Run.Length/time.Second) + 1 {
		s.Points = append(s.Points, kasoku.Point{At: sec(i), Value: float64(i) * perSec})
	}
	rec.Series = append(rec.Series, s)
}

// stranger puts a process of which nothing is known, and program one of a member.
func stranger(rec *kasoku.Recording, host, instance string, cores float64, threads int) {
	steady(rec, kasoku.Key{Host: host, Source: Process, Name: "cpu.user", Instance: instance}, cores)
	rec.Series = append(rec.Series, kasoku.Series{Key: kasoku.Key{Host: host, Source: Process, Name: "threads", Instance: instance},
		Points: []kasoku.Point{{At: sec(1), Value: float64(threads)}, {At: sec(9), Value: float64(threads)}}})
}

func program(rec *kasoku.Recording, host, instance string, cores float64, threads int) {
	stranger(rec, host, instance, cores, threads)
	if rec.Service == nil {
		rec.Service = &kasoku.Service{}
	}
	number, name, _ := strings.Cut(instance, " ")
	pid, _ := strconv.Atoi(number)
	rec.Service.Members = append(rec.Service.Members, kasoku.Member{ID: instance, Program: name, Host: host, Sure: kasoku.High,
		Role: kasoku.RoleApplication, Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}})
}

// TestSummariseCPU: the generator and kasoku itself do not count as the service's.
func TestSummariseCPU(t *testing.T) {
	rec := run(at{100, 1, 11, 1, time.Millisecond})
	machine(rec, "lab1", 2, 1.5, 0.5)
	steady(rec, kasoku.Key{Host: "lab1", Source: Self, Name: "cpu.user"}, 0.1)
	rec.Run.Command = &kasoku.Command{Args: []string{"wrk"}, Wall: sec(12), User: 2 * time.Second, System: time.Second}
	s := Summarise(rec)
	want := 15*time.Second - time.Second - 2500*time.Millisecond // 3 s × 10 of 12
	if d := s.CPU - want; d < -time.Millisecond || d > time.Millisecond || s.LoadTime != sec(10) {
		t.Errorf("CPU %v over %v, want %v over 10 s", s.CPU, s.LoadTime, want)
	}
}

func TestBottleneck(t *testing.T) {
	f := func(want string, change func(rec *kasoku.Recording)) {
		t.Helper()
		rec := run(at{1000, 1, 11, 0.5, 100 * time.Millisecond})
		change(rec)
		if got := Summarise(rec).Bottleneck; got != want {
			t.Errorf("bottleneck %q, want %q", got, want)
		}
	}
	f("mysqld 1.40 of 2 cores", func(rec *kasoku.Recording) {
		machine(rec, "lab1", 2, 1.9, 0.1)
		program(rec, "lab1", "12 app", 0.5, 8)
		program(rec, "lab1", "13 mysqld", 1.4, 40)
	})
	f("app 1.20 of 2 cores", func(rec *kasoku.Recording) { // its processes together
		machine(rec, "lab1", 2, 1.9, 0.1)
		program(rec, "lab1", "12 app", 0.6, 8)
		program(rec, "lab1", "14 app", 0.6, 8)
		program(rec, "lab1", "13 mysqld", 0.7, 40)
	})
	f("generator 1.90 of 2 cores", func(rec *kasoku.Recording) {
		rec.Run.Command = &kasoku.Command{Args: []string{"/usr/bin/wrk", "-t2"}, Wall: sec(12)}
		machine(rec, "lab1", 2, 2, 0)
		stranger(rec, "lab1", "13 wrk", 1.9, 3)
	})
	f("CPU 1.90 of 2 cores", func(rec *kasoku.Recording) { // many programs
		machine(rec, "lab1", 2, 1.9, 0.1)
		program(rec, "lab1", "12 compile", 0.5, 8)
		program(rec, "lab1", "13 link", 0.4, 8)
	})
	f("CPU 1.90 of 2 cores", func(rec *kasoku.Recording) { // of whom is not known
		machine(rec, "lab1", 2, 1.9, 0.1)
		stranger(rec, "lab1", "12 go", 1.4, 8)
		stranger(rec, "lab1", "13 mysqld", 0.1, 1)
	})
	f("", func(rec *kasoku.Recording) {
		machine(rec, "lab1", 4, 1.5, 2.5)
		stranger(rec, "lab1", "9 redis-server", 0.97, 1)
	})
	f("CPU 1.80 of 2 cores", func(rec *kasoku.Recording) { machine(rec, "lab1", 2, 1.8, 0.2) })
	f("redis-server 0.97 of 1 core", func(rec *kasoku.Recording) {
		machine(rec, "lab1", 4, 1.5, 2.5)
		program(rec, "lab1", "9 redis-server", 0.97, 1)
	})
	f("disk vda 98.0 % busy", func(rec *kasoku.Recording) {
		machine(rec, "lab1", 2, 0.5, 1.5)
		steady(rec, kasoku.Key{Host: "lab1", Source: Host, Name: "disk.busy", Instance: "vda"}, 0.98)
	})
	f("mysqld 1.90 of 2 cores on db", func(rec *kasoku.Recording) {
		machine(rec, "app", 2, 0.5, 1.5)
		machine(rec, "db", 2, 2, 0)
		program(rec, "app", "9 mysqld", 0.5, 40)
		program(rec, "db", "9 mysqld", 1.9, 40)
	})
	f("max_connections 151 of 151", func(rec *kasoku.Recording) {
		rec.Settings = []kasoku.Setting{{Scope: "mysql", Name: "max_connections", Value: "151"}}
		series(rec, MySQL, "Threads_connected", 1, 3, 3, 152, 151, 3, 3, 3, 3, 3, 3, 3, 3)
	})
	finding := kasoku.Finding{ID: "POOL-01", Clause: "the app opens a connection per request", Severity: kasoku.Problem,
		Object: kasoku.Object{Kind: "pool", Name: "idle connections"}, Impact: kasoku.Impact{Share: 0.5}}
	f("pool: idle connections", func(rec *kasoku.Recording) {
		rec.Diagnosis = &kasoku.Diagnosis{Findings: []kasoku.Finding{{ID: "MES-07", Severity: kasoku.Info, Clause: "x"}, finding}}
	})
	f("", func(rec *kasoku.Recording) {
		finding.Impact.Share = 0.01
		rec.Diagnosis = &kasoku.Diagnosis{Findings: []kasoku.Finding{finding}}
	})
	f("", func(rec *kasoku.Recording) { machine(rec, "lab1", 2, 1, 1) })
}
