package rules

import (
	"maps"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/histogram"
)

// A build is a recording made by hand, for the edges that no recorded run
// shows. Its names differ from those of the labs on purpose.
//
// It is a ladder of 10, 100 and 1,000 req/s, 10 s each, with pauses of 3 s, in
// which all is well: requests take 10 ms, and one statement a request runs over
// a warm pool.
type build struct{ *kasoku.Recording }

const target = "PUT /orders/:id"

func ladder() *build {
	rec := &kasoku.Recording{
		Run: kasoku.Run{
			ID: "x", Length: 42 * time.Second, State: kasoku.Finished, Label: "one",
			Started: time.Date(2026, 11, 20, 14, 2, 11, 0, time.FixedZone("JST", 9*3600)),
			Hosts:   []kasoku.Host{{Name: "h", Cores: 2}},
		},
		Load: &kasoku.LoadSummary{Engine: "nethttp", Model: "open loop", MaxInFlight: 10000, PeakInFlight: 20, CPU: 2 * time.Second, Wall: 36 * time.Second, Cores: 2},
	}
	b := &build{rec}
	from := 3 * time.Second
	for i, rate := range []float64{10, 100, 1000} {
		s := kasoku.Step{Number: i + 1, PerSec: rate, Interval: kasoku.Interval{From: from, To: from + 10*time.Second}, Planned: 10 * time.Second}
		b.Steps = append(b.Steps, s)
		from += 13 * time.Second
		for k := range 10 {
			b.Seconds = append(b.Seconds, kasoku.LoadSecond{
				Second: int(s.Interval.From/time.Second) + k, Step: i + 1, Target: target,
				Asked: uint64(rate), Codes: map[int]uint64{200: uint64(rate)}, Errors: map[string]uint64{},
				Latency: spread(10*time.Millisecond, uint64(rate)), SendDelay: spread(100*time.Microsecond, uint64(rate)), Service: spread(9900*time.Microsecond, uint64(rate)),
			})
		}
	}
	b.setting("version", "10.11.19-MariaDB-0+deb12u1").setting("max_connections", "151")
	for name, v := range map[string]string{"sort_buffer_size": "2097152", "join_buffer_size": "262144", "read_buffer_size": "131072", "read_rnd_buffer_size": "262144", "thread_stack": "299008"} {
		b.setting(name, v)
	}
	b.setting("port", "3306")
	b.counter("Questions", 100, 1000, 10000).counter("Com_insert", 100, 1000, 10000)
	for _, name := range []string{"Connections", "Connection_errors_max_connections", "Aborted_clients", "Com_stmt_prepare", "Com_stmt_execute", "Com_stmt_close", "Com_update", "Com_select", "Com_delete", "Com_replace", "Com_begin", "Handler_update"} {
		b.counter(name, 0, 0, 0)
	}
	b.gauge("Threads_connected", 9, 9, 9, 9).gauge("Max_used_connections", 12, 12, 12, 12).gauge("Prepared_stmt_count", 0, 0, 0, 0)
	b.add(waitingSockets, kasoku.Gauge, func(int) float64 { return 15 })
	return b.cpu(0.1, 0.5)
}

func spread(d time.Duration, n uint64) *histogram.Histogram {
	h := histogram.New()
	h.RecordN(d, n)
	return h
}

func (b *build) setting(name, value string) *build {
	b.Settings = slices.DeleteFunc(b.Settings, func(s kasoku.Setting) bool { return s.Scope == "mysql" && s.Name == name })
	b.Settings = append(b.Settings, kasoku.Setting{Host: "h", Scope: "mysql", Name: name, Value: value})
	return b
}

// stepOf returns the number of the step that a second lies in, 0 for a pause,
// and how much of the step is over at the second's end.
func stepOf(second int) (number int, done float64) {
	for i, from := range []int{3, 16, 29} {
		if second >= from && second < from+10 {
			return i + 1, float64(second-from+1) / 10
		}
	}
	return 0, 0
}

// add puts a series with one sample a second.
func (b *build) add(k kasoku.Key, kind kasoku.Kind, value func(second int) float64) *build {
	k.Host = "h"
	b.drop(k.Source, k.Name, k.Instance)
	s := kasoku.Series{Key: k, Kind: kind}
	for i := 0; i <= 42; i++ {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: value(i)})
	}
	b.Series = append(b.Series, s)
	return b
}

// counter puts a counter of the server that grows by that much in each step.
func (b *build) counter(name string, grown ...float64) *build {
	return b.counts(kasoku.Key{Source: diagnose.MySQL, Name: name}, grown...)
}

func (b *build) counts(k kasoku.Key, grown ...float64) *build {
	return b.add(k, kasoku.Counter, func(second int) float64 {
		sum := 0.0
		for i, from := range []int{3, 16, 29} {
			sum += grown[i] * min(max(float64(second-from)/10, 0), 1)
		}
		return 1000 + sum
	})
}

// gauge puts a gauge of the server with a value for each step and one for the
// pauses.
func (b *build) gauge(name string, pause float64, steps ...float64) *build {
	return b.add(kasoku.Key{Source: diagnose.MySQL, Name: name}, kasoku.Gauge, func(second int) float64 {
		if n, _ := stepOf(second); n > 0 {
			return steps[n-1]
		}
		return pause
	})
}

// cpu puts the cores that kasoku and all else use in step 3.
func (b *build) cpu(own, others float64) *build {
	b.counts(kasoku.Key{Source: diagnose.Self, Name: "cpu.user"}, 0, 0, own*10)
	b.counts(kasoku.Key{Source: diagnose.Self, Name: "cpu.system"}, 0, 0, 0)
	b.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.user"}, 0, 0, (own+others)*10)
	b.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.system"}, 0, 0, 0)
	b.counts(kasoku.Key{Source: diagnose.Host, Name: "cpu.idle"}, 20, 20, (2-own-others)*10)
	return b
}

// drop removes series; an empty name removes the whole source.
func (b *build) drop(source, name, instance string) *build {
	b.Series = slices.DeleteFunc(b.Series, func(s kasoku.Series) bool {
		return s.Key.Source == source && (name == "" || s.Key.Name == name && s.Key.Instance == instance)
	})
	return b
}

// fail makes n requests of a step fail with the code, spread over its seconds.
func (b *build) fail(step, n, code int, text string) *build {
	for i := range b.Seconds {
		s := &b.Seconds[i]
		if s.Step != step {
			continue
		}
		bad := min(uint64(n/10), s.Codes[200])
		s.Codes = maps.Clone(s.Codes)
		s.Codes[200] -= bad
		s.Codes[code] += bad
		s.Errors = map[string]uint64{text: bad}
	}
	return b
}

// latency gives the requests of a step their latency, of which so much passed
// before the send.
func (b *build) latency(step int, d, before time.Duration) *build {
	for i := range b.Seconds {
		if s := &b.Seconds[i]; s.Step == step {
			s.Latency, s.SendDelay, s.Service = spread(d, s.Asked), spread(before, s.Asked), spread(d-before, s.Asked)
		}
	}
	return b
}

// accessLog puts an access log that agrees with the load.
func (b *build) accessLog() *build {
	e := kasoku.Endpoint{Method: "PUT", Route: "/orders/:id", Codes: map[int]uint64{}, Seconds: map[int]kasoku.EndpointSecond{}}
	for i := range b.Seconds {
		s := &b.Seconds[i]
		for code, n := range s.Codes {
			e.Codes[code] += n
			e.Count += n
			v := e.Seconds[s.Second]
			v.Count += n
			if code >= 500 {
				v.Failed += n
			}
			e.Seconds[s.Second] = v
		}
	}
	b.Endpoints = []kasoku.Endpoint{e}
	return b
}

// said puts n lines of a log into step 3.
func (b *build) said(level, code, text string, sql bool, n int) *build {
	m := kasoku.Message{
		Path: "shop.log", Pattern: text, Sample: text, Level: level, Code: code, SQL: sql, Count: uint64(n), Bytes: uint64(n * len(text)),
		First: 29 * time.Second, Last: 39 * time.Second, Seconds: map[int]uint64{},
	}
	for i := range 10 {
		m.Seconds[29+i] = uint64(n / 10)
	}
	b.Messages = append(b.Messages, m)
	return b
}

func (b *build) alone() *diagnose.Case { return diagnose.NewCase(b.Recording, nil) }

// story is the ladder of the design: at 1,000 req/s only 30.5 % succeed.
func story() *build {
	b := ladder().fail(3, 6950, 500, "500 Internal Server Error").latency(3, 357*time.Millisecond, 100*time.Microsecond)
	b.counter("Connections", 2, 20, 3029).counter("Connection_errors_max_connections", 0, 0, 6612)
	b.gauge("Threads_connected", 3, 3, 5, 151).add(kasoku.Key{Source: diagnose.MySQL, Name: "Max_used_connections"}, kasoku.Gauge, func(s int) float64 {
		if s > 30 {
			return 152
		}
		return 5
	})
	b.add(waitingSockets, kasoku.Gauge, func(s int) float64 { return 15 + 300*float64(max(min(s, 39)-29, 0)) })
	b.counter("Com_stmt_prepare", 300, 3000, 9150).counter("Com_stmt_execute", 300, 3000, 9150).counter("Com_stmt_close", 300, 3000, 9150)
	b.counter("Com_insert", 100, 1000, 3050).counter("Com_update", 100, 1000, 3060).counter("Com_select", 100, 1000, 3055).counter("Com_begin", 200, 2000, 6100)
	b.counter("Questions", 700, 7000, 21350)
	b.said("error", "1040", "2026/11/20 14:02:39 error: put order: Error 1040: Too many connections", false, 6610)
	b.said("error", "", "2026/11/20 14:02:39 error: put order: invalid connection", false, 340)
	b.said("", "", "[0.41ms] INSERT INTO orders (id, customer, note, address) VALUES ('?', '?', '?', '?')  -- and so on to make it long enough", true, 9150)
	b.counts(kasoku.Key{Source: diagnose.Process, Name: "io.write_calls", Instance: "77 shop"}, 300, 3000, 12000).serves("77 shop")
	b.Service.Members[0].Language = "go"
	b.Saves = []kasoku.SaveShape{{Table: "orders", Count: 4150, Inserts: 4150, Sample: []string{
		"UPDATE orders SET note = ? WHERE id = ?", "SELECT * FROM orders WHERE id = ?", "INSERT INTO orders (id, note) VALUES (?, ?)"}}}
	b.Queries = []kasoku.Query{{Verb: "INSERT", Tables: []string{"orders"}, Calls: 29050}}
	b.RowChecks = []kasoku.RowCheck{{Table: "orders", Before: 10, After: 4160, Successes: 4150}}
	return b.accessLog()
}
