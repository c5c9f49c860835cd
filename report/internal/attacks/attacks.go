// Package attacks has attacks that never were, for tests of reports. They say the
// same each time.
package attacks

import (
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/report/loadreport"
)

// Started is when they began.
var Started = time.Date(2026, 11, 20, 14, 2, 11, 0, time.FixedZone("JST", 9*3600))

const ms = time.Millisecond

// tally counts n requests whose latencies go evenly from least to most; bad of
// them fail with each message.
func tally(n int, least, most, late time.Duration, bad map[string]int) *kasoku.Tally {
	t := kasoku.NewTally()
	t.Asked = uint64(n)
	for i := range n {
		latency := least + (most-least)*time.Duration(i)/time.Duration(n)
		t.Latency.Record(latency)
		t.Service.Record(latency - late*time.Duration(i%10)/10)
		t.SendDelay.Record(late * time.Duration(i%10) / 10)
	}
	failed := 0
	for message, k := range bad {
		t.Errors[message] += uint64(k)
		code := 0
		if message == "503 Service Unavailable" {
			code = 503
		}
		t.Codes[code] += uint64(k)
		failed += k
	}
	t.Codes[200] = uint64(n - failed)
	t.Success = uint64(n - failed)
	t.Answered = t.Success + t.Codes[503]
	t.BytesIn, t.BytesOut = uint64(n)*1024, uint64(n)*12
	return t
}

func sum(all ...*kasoku.Tally) *kasoku.Tally {
	t := kasoku.NewTally()
	for _, x := range all {
		t.Merge(x)
	}
	return t
}

func summary(targets ...string) kasoku.LoadSummary {
	return kasoku.LoadSummary{
		Engine: "epollhttp", EngineWhy: "all targets are cleartext HTTP/1.1", Model: "open loop", Targets: targets,
		MaxInFlight: 10_000, PeakInFlight: 31,
		CPU: 820 * ms, Wall: 10*time.Second + 4*ms, PeakCores: 0.11, Cores: 2, Pacing: "precise", Shards: 1,
		Connections: 31,
	}
}

// Good is one target at a constant rate, all of it well.
func Good() *loadreport.Attack {
	t := tally(10_000, 180*time.Microsecond, 990*time.Microsecond, 40*time.Microsecond, nil)
	return &loadreport.Attack{
		Started: Started, Tally: t, Summary: summary("GET /"), Memory: 14_200_000,
		Results: "each request is in results.gob; `kasoku report results.gob` reads it",
		Steps: []loadreport.AttackStep{{Step: kasoku.Step{Number: 1, PerSec: 1000,
			Interval: kasoku.Interval{To: 10 * time.Second}, Planned: 10 * time.Second}, Tally: t}},
		Targets: []loadreport.AttackTarget{{Name: "GET /", Tally: t}},
	}
}

// Bad is a ramp and two stages to two targets, one of which breaks; the generator
// was late. What the server says is hostile.
func Bad() *loadreport.Attack {
	users := tally(3000, 200*time.Microsecond, 1200*ms, 12*ms, map[string]int{"503 Service Unavailable": 812,
		"EOF \x1b[2J <b>": 7})
	home := tally(3000, 100*time.Microsecond, 3*ms, 12*ms, nil)
	ramp, flat := tally(2500, 100*time.Microsecond, 9*ms, 90*time.Microsecond, nil),
		tally(3500, 200*time.Microsecond, 1200*ms, 12*ms, map[string]int{"503 Service Unavailable": 812,
			"EOF \x1b[2J <b>": 7})
	s := summary("GET /", "POST /users")
	s.Stopped, s.StoppedAt, s.Wall, s.PeakInFlight, s.Resent, s.Redirected = "interrupt", 13*time.Second+800*ms,
		13*time.Second+800*ms, 10_000, 3, 41
	all := sum(users, home)
	seed := uint64(8271)
	return &loadreport.Attack{
		Name: "before", Started: Started, Schedule: "Poisson arrivals", Tally: all, Summary: s, Memory: 61_000_000,
		Seed: &seed,
		Steps: []loadreport.AttackStep{
			{Step: kasoku.Step{Number: 1, PerSec: 10, PerSecTo: 500, Interval: kasoku.Interval{To: 10 * time.Second},
				Planned: 10 * time.Second}, Tally: ramp},
			{Step: kasoku.Step{Number: 2, PerSec: 1000, Interval: kasoku.Interval{From: 10 * time.Second,
				To: 13800 * ms}, Planned: 10 * time.Second}, Tally: flat},
		},
		Targets: []loadreport.AttackTarget{{Name: "GET /", Tally: home}, {Name: "POST /users", Tally: users}},
		Warnings: append(load.Warnings(s, all), kasoku.Warning{Code: load.LateGenerator,
			Text: "the generator was late: send delay p99 10.8 ms, max 10.8 ms, of a latency p99 of 1,176 ms",
			Hint: "lower the rate, give the generator a core of its own, or run it on another machine"}),
	}
}

// Closed is a closed loop with think time, through net/http.
func Closed() *loadreport.Attack {
	t := tally(4_120, 2*ms, 19*ms, 0, nil)
	s := summary("GET /")
	s.Engine, s.EngineWhy, s.Model, s.Pacing, s.Shards, s.MaxInFlight, s.PeakInFlight = "nethttp",
		"a target needs TLS", "closed loop", "", 0, 64, 64
	return &loadreport.Attack{
		Started: Started, Schedule: "think time 100 ms to 300 ms", Tally: t, Summary: s,
		Steps: []loadreport.AttackStep{{Step: kasoku.Step{Number: 1, Interval: kasoku.Interval{To: 10 * time.Second},
			Planned: 10 * time.Second}, Tally: t}},
		Targets: []loadreport.AttackTarget{{Name: "GET /", Tally: t}},
	}
}

// None is an attack that ended before a request was due.
func None() *loadreport.Attack {
	s := summary()
	s.Wall, s.CPU, s.PeakInFlight, s.Connections = 0, 0, 0, 0
	return &loadreport.Attack{Started: Started, Tally: kasoku.NewTally(), Summary: s}
}
