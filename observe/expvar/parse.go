package expvar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"

	"github.com/kasoku/kasoku"
)

const (
	// mostFound things of one program are kept, mostMetrics of runtime/metrics among
	// them, and deepest is how deep they may stand.
	mostFound   = 64
	mostMetrics = 256
	deepest     = 16
)

// A Found is one thing that a program reports.
type Found struct {
	Place  string // where it stands in the answer: "db", "pools.reader", "memstats"
	Values []Value

	pauses     *pauses // of a MemStats
	histograms []histogram
}

// A Value is one number of it.
type Value struct {
	Name  string
	Unit  string
	Kind  kasoku.Kind
	Value float64
}

// A field is one of a Go struct.
type field struct {
	name  string
	kind  kasoku.Kind
	unit  string // count when empty
	scale float64
	as    string // its name here; name when empty
}

// A shape is a struct, by the fields without which an object is none: other versions
// of Go have more or fewer.
type shape struct {
	needed []string
	fields []field
}

var pool = shape{
	needed: []string{"OpenConnections", "InUse", "Idle", "WaitCount"},
	fields: []field{
		{name: "MaxOpenConnections"}, {name: "OpenConnections"}, {name: "InUse"}, {name: "Idle"},
		{name: "WaitCount", kind: kasoku.Counter}, {name: "WaitDuration", kind: kasoku.Counter, unit: "s", scale: 1e-9},
		{name: "MaxIdleClosed", kind: kasoku.Counter}, {name: "MaxIdleTimeClosed", kind: kasoku.Counter},
		{name: "MaxLifetimeClosed", kind: kasoku.Counter},
	},
}

// memory is runtime.MemStats, which package expvar publishes by itself. What is left
// out can be derived from the rest, or describes the runtime's own tables.
var memory = shape{
	needed: []string{"HeapAlloc", "NumGC", "PauseTotalNs", "Mallocs"},
	fields: []field{
		{name: "HeapAlloc", unit: "bytes"}, {name: "HeapInuse", unit: "bytes"}, {name: "HeapIdle", unit: "bytes"},
		{name: "HeapReleased", unit: "bytes"},
		{name: "HeapObjects"}, {name: "StackInuse", unit: "bytes"}, {name: "Sys", unit: "bytes"},
		{name: "NextGC", unit: "bytes"},
		{name: "TotalAlloc", kind: kasoku.Counter, unit: "bytes"}, {name: "Mallocs", kind: kasoku.Counter},
		{name: "Frees", kind: kasoku.Counter},
		{name: "NumGC", kind: kasoku.Counter}, {name: "NumForcedGC", kind: kasoku.Counter},
		{name: "PauseTotalNs", as: "PauseTotal", kind: kasoku.Counter, unit: "s", scale: 1e-9},
		{name: "GCCPUFraction", unit: "ratio"},
	},
}

// client is what a client of a service with limits counts: its requests, and the permits
// without which it may not send some of them, such as licences, leases or slots.
var client = shape{
	needed: []string{"InFlight", "Sent", "Permits", "PermitWait"},
	fields: []field{
		{name: "InFlight"}, {name: "InFlightTime", kind: kasoku.Counter, unit: "s", scale: 1e-9},
		{name: "Sent", kind: kasoku.Counter}, {name: "Refused", kind: kasoku.Counter}, {name: "Waiting"},
		{name: "Permits"}, {name: "PermitsMost"}, {name: "PermitsAsked", kind: kasoku.Counter},
		{name: "PermitsFailed", kind: kasoku.Counter},
		{name: "PermitWait", kind: kasoku.Counter, unit: "s", scale: 1e-9}, {name: "Gained", kind: kasoku.Counter},
		{name: "UseWait", kind: kasoku.Counter, unit: "s", scale: 1e-9}, {name: "UsesMost"},
		{name: "QuestionsHash"}, {name: "AnswersHash"},
	},
}

// sender is what who sends points, lines or events counts: what was due, and what the other
// side took of it. Blocked is how long writes waited for it, the sum of all connections.
var sender = shape{
	needed: []string{"Due", "Sent", "Outstanding"},
	fields: []field{
		{name: "Due", kind: kasoku.Counter}, {name: "Sent", kind: kasoku.Counter},
		{name: "Acknowledged", kind: kasoku.Counter}, {name: "Outstanding"}, {name: "Lost", kind: kasoku.Counter},
		{name: "Blocked", kind: kasoku.Counter, unit: "s", scale: 1e-9}, {name: "Connections"},
	},
}

// operation is one kind of a client's requests, or those of one size.
var operation = shape{
	needed: []string{"Answers", "AnswerTime"},
	fields: []field{
		{name: "Answers", kind: kasoku.Counter}, {name: "AnswerTime", kind: kasoku.Counter, unit: "s", scale: 1e-9},
		{name: "ServiceTime", kind: kasoku.Counter, unit: "s", scale: 1e-9}, {name: "Size"},
		{name: "Gained", kind: kasoku.Counter},
	},
}

// values returns the numbers of an object that has the shape, nil of another.
func (s *shape) values(o map[string]any) []Value {
	for _, n := range s.needed {
		if v, ok := o[n].(float64); !ok || v < 0 {
			return nil
		}
	}
	var out []Value
	for _, f := range s.fields {
		v, ok := o[f.name].(float64)
		if !ok || v < 0 {
			continue
		}
		x := Value{Name: f.name, Unit: "count", Kind: f.kind, Value: v}
		if f.as != "" {
			x.Name = f.as
		}
		if f.unit != "" {
			x.Unit = f.unit
		}
		if f.scale > 0 {
			x.Value *= f.scale
		}
		out = append(out, x)
	}
	return out
}

// pauses are those of the last collections.
type pauses struct {
	collections float64   // since the program's start
	ring        []float64 // nanoseconds; the last is at (collections-1) mod its length
}

func pausesOf(o map[string]any) *pauses {
	list, ok := o["PauseNs"].([]any)
	if !ok || len(list) == 0 {
		return nil
	}
	p := &pauses{collections: o["NumGC"].(float64), ring: make([]float64, len(list))}
	if p.collections > 1<<52 {
		return nil
	}
	for i, v := range list {
		p.ring[i], _ = v.(float64)
	}
	return p
}

// since returns the longest pause, in seconds, of the collections after the first
// before of them; 0 when there was none. It is not ok at the first tick, when it is
// not known which are new, and after a restart.
func (p *pauses) since(before float64) (longest float64, ok bool) {
	if before <= 0 || before > p.collections {
		return 0, false
	}
	last := int64(p.collections)
	for n := max(int64(before), last-int64(len(p.ring))); n < last; n++ {
		longest = max(longest, p.ring[n%int64(len(p.ring))])
	}
	return longest / 1e9, true
}

// Parse returns what is found in an answer, by place.
func Parse(body []byte) ([]Found, error) {
	var all any
	if err := json.Unmarshal(body, &all); err != nil {
		if name, ok := unmarshalled(body); ok {
			return nil, &emptyError{name}
		}
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	var s search
	s.look(all, "", deepest)
	return s.out, nil
}

// An emptyError reports that a variable has no value: package expvar writes nothing
// where json.Marshal fails.
type emptyError struct{ name string }

func (e *emptyError) Error() string {
	return fmt.Sprintf("no JSON: its variable %q has no value", e.name)
}

// Hint returns what to do.
func (e *emptyError) Hint() string {
	return "what it publishes cannot be JSON: infinite numbers, such as the outermost edges of a histogram, have to be null"
}

// unmarshalled returns the first variable without a value in an answer of package
// expvar, which writes "name": VALUE, each on a line of its own.
func unmarshalled(body []byte) (name string, ok bool) {
	for line := range bytes.Lines(body) {
		line = bytes.TrimRight(line, ",\r\n")
		if key, ok := bytes.CutSuffix(line, []byte(`": `)); ok && bytes.HasPrefix(key, []byte{'"'}) {
			return clean(string(key[1:])), true
		}
	}
	return "", false
}

// A search goes through an answer.
type search struct {
	out        []Found
	metrics    int
	histograms int
}

func (s *search) add(f Found) {
	if len(f.Values) > 0 && len(s.out) < mostFound {
		f.Place = clean(f.Place)
		s.out = append(s.out, f)
	}
}

func (s *search) look(v any, at string, deep int) {
	o, ok := v.(map[string]any)
	if !ok || deep == 0 {
		return
	}
	if vs := pool.values(o); vs != nil {
		s.add(Found{Place: at, Values: vs})
		return
	}
	for _, known := range []*shape{&client, &sender, &operation} { // they may have others below, and stand beside all else
		if vs := known.values(o); vs != nil {
			s.add(Found{Place: at, Values: vs})
			break
		}
	}
	if vs := memory.values(o); vs != nil {
		s.add(Found{Place: at, Values: vs, pauses: pausesOf(o)})
		return
	}
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	loose := Found{Place: at} // numbers that stand here by themselves
	for _, k := range keys {
		if number, ok := o[k].(float64); ok {
			if x, ok := s.loose(k, number); ok {
				loose.Values = append(loose.Values, x)
			}
			continue
		}
		if h, ok := s.histogram(k, o[k]); ok {
			loose.histograms = append(loose.histograms, h)
			loose.Values = append(loose.Values, Value{Name: h.name + ".count", Unit: "count", Kind: kasoku.Counter,
				Value: h.total()})
			continue
		}
		below := k
		if at != "" {
			below = at + "." + k
		}
		s.look(o[k], below, deep-1)
	}
	s.add(loose)
}

// loose returns a number that is known by its name alone.
func (s *search) loose(name string, number float64) (Value, bool) {
	if isMetric(name) && s.metrics < mostMetrics {
		s.metrics++
		return metric(clean(name), number), true
	}
	switch strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name)) {
	case "goroutines", "numgoroutine", "numgoroutines", "goroutinecount":
		return Value{Name: "goroutines", Unit: "count", Value: number}, number >= 0
	}
	return Value{}, false
}

// histogram returns one that stands under a name of runtime/metrics.
func (s *search) histogram(name string, v any) (h histogram, ok bool) {
	o, ok := v.(map[string]any)
	if !ok || !isMetric(name) || s.histograms == mostHistograms {
		return h, false
	}
	if h, ok = histogramOf(clean(name), o); ok {
		s.histograms++
	}
	return h, ok
}

// isMetric reports whether a name is one of runtime/metrics, such as
// /sched/latencies:seconds.
func isMetric(name string) bool { return strings.HasPrefix(name, "/") && strings.Contains(name, ":") }

// cumulative has the metrics of this program's own version of Go that only grow.
var cumulative = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, d := range metrics.All() {
		if d.Cumulative {
			out[d.Name] = true
		}
	}
	return out
})

// metric is one of runtime/metrics; its unit stands after the colon.
func metric(name string, number float64) Value {
	v := Value{Name: name, Unit: "count", Value: number}
	if cumulative()[name] {
		v.Kind = kasoku.Counter
	}
	switch _, unit, _ := strings.Cut(name, ":"); unit {
	case "seconds", "cpu-seconds":
		v.Unit = "s"
	case "bytes":
		v.Unit = "bytes"
	}
	return v
}

// clean keeps what a terminal and a file bear of a name.
func clean(at string) string {
	out := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return -1
		}
		return r
	}, at)
	if r := []rune(out); len(r) > 80 {
		out = string(r[:80])
	}
	return out
}
