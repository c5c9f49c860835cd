package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/wire/mackerel"
)

// A Mackerel posts each minute's mean and maximum of each series: NAME.avg and
// NAME.max, which are one graph there. The mean alone, which is what a minute usually
// is reported as, hides the second that mattered. Before the first values of a metric of
// hosts it defines their graph; graphs of services cannot be defined.
//
// Values of hosts are posted for the host with that name; those of load, access logs
// and score for the service, where one is named, else not at all.
type Mackerel struct {
	o     MackerelOptions
	names *namer
	cells map[cellKey]*cell
	gone  int64           // minutes before it were posted, in minutes since 1970
	drawn map[string]bool // names of graphs that were defined

	mu    sync.Mutex // guards the following field
	stats MackerelStats
}

// MackerelOptions configure where to.
type MackerelOptions struct {
	Client  *mackerel.Client
	Start   time.Time         // wall time of offset 0
	HostIDs map[string]string // Mackerel's id of each host, by the host's name
	Service string            // may be empty
	// Live posts a minute when it is over. Otherwise all is posted at the end: series
	// come one after the other.
	Live bool
}

// MackerelStats is what was posted.
type MackerelStats struct {
	Host, Service int // values
	Late          int // values that came after their minute was posted
	Unnamed       int // values of hosts that Mackerel does not know, or of no service
	Lost          int // values that could not be posted
	Graphs        int // of hosts that were defined
}

type cellKey struct {
	kasoku.Key
	minute int64
}

// A cell is one minute of one series.
type cell struct {
	name     string
	unit     string
	sum, max float64
	n        int
}

// settle is how long after its end a minute is posted: sources answer late, and the
// last second of a load is reported some seconds after.
const settle = loadSettles + 3*time.Second

// NewMackerel returns an output. Its values are to be rates.
func NewMackerel(o MackerelOptions) *Mackerel {
	return &Mackerel{o: o, cells: map[cellKey]*cell{}, drawn: map[string]bool{}, names: newNamer(func(v *Value) string {
		if ofService(v.Key.Source) {
			return mackerelName("kasoku", v)
		}
		return mackerelName("custom.kasoku", v)
	})}
}

// Write implements [Output]. With Live it posts minutes that are over, so it may take
// long.
func (m *Mackerel) Write(ctx context.Context, values []Value) error {
	var now int64
	for i := range values {
		v := &values[i]
		at := second(m.o.Start, v.At)
		now = max(now, at)
		if !m.known(v) {
			m.count(MackerelStats{Unnamed: 1})
			continue
		}
		k := cellKey{v.Key, at / 60}
		if k.minute < m.gone {
			m.count(MackerelStats{Late: 1})
			continue
		}
		c := m.cells[k]
		if c == nil {
			c = &cell{name: m.names.of(v), unit: v.Unit, max: v.Value}
			m.cells[k] = c
		}
		c.sum, c.max, c.n = c.sum+v.Value, max(c.max, v.Value), c.n+1
	}
	if due := (now - int64(settle/time.Second)) / 60; m.o.Live && due > m.gone {
		return m.post(ctx, due)
	}
	return nil
}

func (m *Mackerel) known(v *Value) bool {
	if ofService(v.Key.Source) {
		return m.o.Service != ""
	}
	return m.o.HostIDs[v.Key.Host] != ""
}

// post posts all minutes before that one.
func (m *Mackerel) post(ctx context.Context, before int64) error {
	m.gone = before
	var hosts []mackerel.HostValue
	var service []mackerel.Value
	graphs := map[string]mackerel.Graph{}
	for k, c := range m.cells {
		if k.minute >= before {
			continue
		}
		delete(m.cells, k)
		if g := graphOf(k.Key, c); !ofService(k.Source) && !m.drawn[g.Name] {
			graphs[g.Name] = g
		}
		for _, v := range []mackerel.Value{{Name: c.name + ".avg", Time: k.minute * 60, Value: c.sum / float64(c.n)},
			{Name: c.name + ".max", Time: k.minute * 60, Value: c.max}} {
			if ofService(k.Source) {
				service = append(service, v)
			} else {
				hosts = append(hosts, mackerel.HostValue{HostID: m.o.HostIDs[k.Host], Value: v})
			}
		}
	}
	order := func(a, b mackerel.Value) int { return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Name, b.Name)) }
	slices.SortFunc(hosts, func(a, b mackerel.HostValue) int {
		return cmp.Or(order(a.Value, b.Value), cmp.Compare(a.HostID, b.HostID))
	})
	slices.SortFunc(service, order)
	// Values count more than how they are drawn: they are posted either way.
	errs := []error{m.define(ctx, graphs)}
	n, err := m.o.Client.PostHost(ctx, hosts)
	m.count(MackerelStats{Host: n, Lost: len(hosts) - n})
	errs = append(errs, err)
	if len(service) > 0 {
		n, err := m.o.Client.PostService(ctx, m.o.Service, service)
		m.count(MackerelStats{Service: n, Lost: len(service) - n})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// define says once how graphs are drawn.
func (m *Mackerel) define(ctx context.Context, graphs map[string]mackerel.Graph) error {
	all := make([]mackerel.Graph, 0, len(graphs))
	for _, name := range slices.Sorted(maps.Keys(graphs)) {
		all = append(all, graphs[name])
	}
	if err := m.o.Client.DefineGraphs(ctx, all); err != nil {
		return fmt.Errorf("define graphs: %w", err)
	}
	for name := range graphs {
		m.drawn[name] = true
	}
	m.count(MackerelStats{Graphs: len(graphs)})
	return nil
}

// graphOf is the graph of a series, or of all entities of a metric: the mean of each
// minute and its worst second, neither of which can be stacked on the other.
func graphOf(k kasoku.Key, c *cell) mackerel.Graph {
	name, label := c.name, "kasoku "+k.Source+" "+k.Name
	if k.Instance != "" {
		name = name[:strings.LastIndexByte(name, '.')] + ".#"
	}
	unit := mackerel.Unit(c.unit)
	if unit == "float" && c.unit != "" && c.unit != "count" {
		label += " (" + c.unit + ")"
	}
	return mackerel.Graph{Name: name, Label: label, Unit: unit, Metrics: []mackerel.Line{
		{Name: name + ".avg", Label: "mean of the minute"}, {Name: name + ".max", Label: "worst second"},
	}}
}

// count adds to the stats.
func (m *Mackerel) count(d MackerelStats) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.stats
	s.Host, s.Service, s.Late, s.Unnamed, s.Lost = s.Host+d.Host, s.Service+d.Service, s.Late+d.Late,
		s.Unnamed+d.Unnamed, s.Lost+d.Lost
	s.Graphs += d.Graphs
}

// Stats returns what was posted so far. It may be called at any time.
func (m *Mackerel) Stats() MackerelStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats
}

// Close implements [Output]: it posts the minutes that are left, the last one as far
// as it came.
func (m *Mackerel) Close(ctx context.Context) error {
	for k := range m.cells {
		m.gone = max(m.gone, k.minute+1)
	}
	return m.post(ctx, m.gone)
}

// Annotate marks the phases and the findings of a run on the graphs of a service.
func Annotate(ctx context.Context, c *mackerel.Client, rec *kasoku.Recording, service string,
	roles []string) (made int, err error) {
	var marks []mackerel.Annotation
	_ = contain.Run(marksPart, func() { marks = Annotations(rec, service, roles) }) // the command reports bugs
	for _, a := range marks {
		if _, err := c.Annotate(ctx, a); err != nil {
			return made, err
		}
		made++
	}
	return made, nil
}

// marksPart names the annotations of a run: its values are posted without them.
var marksPart = contain.Part{Kind: contain.Output, Name: "annotations"}

// Annotations are the run itself, its phases, and what was found, without remarks.
func Annotations(rec *kasoku.Recording, service string, roles []string) []mackerel.Annotation {
	name := rec.Run.ID
	mark := func(title, text string, iv kasoku.Interval) mackerel.Annotation {
		if iv.Empty() {
			iv = rec.Whole()
		}
		return mackerel.Annotation{
			Title: title, Description: text, Service: service, Roles: roles,
			From: second(rec.Run.Started, iv.From), To: second(rec.Run.Started, iv.To),
		}
	}
	verdict := rec.Run.Note
	if rec.Diagnosis != nil {
		verdict = rec.Diagnosis.Verdict
	}
	out := []mackerel.Annotation{mark("kasoku "+name, verdict, rec.Whole())}
	for _, p := range rec.Phases {
		out = append(out, mark("kasoku "+name+": "+string(p.Kind), p.Why, p.Interval))
	}
	if rec.Diagnosis == nil {
		return out
	}
	for i := range rec.Diagnosis.Findings {
		f := &rec.Diagnosis.Findings[i]
		if f.Severity != kasoku.Problem {
			continue
		}
		text := f.Cause
		if len(f.Fixes) > 0 {
			text += "\nFix: " + f.Fixes[0].Text
		}
		out = append(out, mark(fmt.Sprintf("kasoku %s: %s %s", name, f.ID, f.Title), text, f.Interval))
	}
	return out
}
