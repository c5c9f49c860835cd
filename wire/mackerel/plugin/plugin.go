// Package plugin answers mackerel-agent as a metric plugin: graph definitions when
// it asks for them, else values.
//
// The one idea: a [Plugin] is data, its graphs, and one function that fetches; Run
// does the rest as go-mackerel-plugin 0.1.6 does, byte for byte: the header line,
// the JSON, the labels made from keys, the numbers (%d when whole, else %f), the
// difference per minute of counters, then scale, the name and form of the
// state file. So a plugin made with that library can be replaced without losing a graph.
//
// What differs, each where the original prints something wrong:
//   - A counter that was reset prints nothing; the original prints 0.
//   - Lines come in the order of Graphs and Metrics, wildcards sorted; the original's
//     order is random.
//   - With wildcards a key is printed once. The original matches only the beginning of
//     a key, so it prints x.1.rows_read for the metric rows too.
//   - A name that Mackerel refuses is left out, with a message.
//   - The state file is replaced in one step. One from the future, or one that cannot
//     be written, does not silence the plugin: what is no counter is printed.
//
// Times are seconds since the epoch, of the moment before the fetch. Values are in
// the unit of the graph. Messages go to Err, which the agent logs.
//
// Sources: mackerel-agent's protocol of custom metrics, go-mackerel-plugin 0.1.6.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"time"
)

// The units that Mackerel knows.
const (
	Float          = "float"
	Integer        = "integer"
	Percentage     = "percentage"
	Seconds        = "seconds"
	Milliseconds   = "milliseconds"
	Bytes          = "bytes"
	BytesPerSecond = "bytes/sec"
	BitsPerSecond  = "bits/sec"
	IOPS           = "iops"
)

// MetaEnv is the variable with which the agent asks for graph definitions, when it
// is not empty.
const MetaEnv = "MACKEREL_AGENT_PLUGIN_META"

// A Graph is one graph and its lines.
type Graph struct {
	Key     string // after the prefix; empty: the prefix alone; * and # stand for one segment
	Label   string // empty: made from the key
	Unit    string
	Metrics []Metric
}

// A Metric is one line of a graph.
type Metric struct {
	Name    string // * and # stand for one segment
	Label   string // empty: made from the name
	Stacked bool
	Diff    bool    // a counter: its difference per minute is printed
	Scale   float64 // multiplies what is printed, after Diff; 0: nothing to do
}

// A Value is one line of output.
type Value struct {
	Name  string // after the prefix
	Value float64
	Time  time.Time // zero: the time of the run
	Float bool      // with a fraction, even when it is whole
}

// A Plugin is what a metric plugin prints. Fetch or Values is needed.
type Plugin struct {
	Prefix string // of every key; may be empty
	Graphs []Graph

	// Fetch returns the values by the names of the metrics; with wildcards by graph and
	// metric with the segments filled in.
	Fetch func(ctx context.Context) (map[string]float64, error)
	// Values returns lines that are printed as they are, in their order: with times of
	// their own, without Diff and Scale. Used when Fetch is nil.
	Values func(ctx context.Context) ([]Value, error)

	// StateFile keeps the counters of the run before. Empty: as go-mackerel-plugin
	// names it, in the directory for plugins; see [StateName] and [program.WorkDir].
	StateFile string
	Args      []string // the command line with the program's name, for StateName; nil: os.Args

	Out, Err io.Writer           // nil: stdout, stderr
	Getenv   func(string) string // nil: os.Getenv
	Now      func() time.Time    // nil: time.Now
}

// Run prints the graph definitions when the environment asks for them, else the
// values. After an error the program should exit with 1; nothing was printed then,
// unless it is Out that failed.
func (p *Plugin) Run(ctx context.Context) error {
	if p.getenv(MetaEnv) != "" {
		return p.printDefinitions()
	}
	return p.printValues(ctx)
}

func (p *Plugin) getenv(name string) string {
	if p.Getenv != nil {
		return p.Getenv(name)
	}
	return os.Getenv(name)
}

func (p *Plugin) now() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return time.Now()
}

func (p *Plugin) out() io.Writer {
	if p.Out != nil {
		return p.Out
	}
	return os.Stdout
}

// logf reports what is wrong with one value; the others are printed.
func (p *Plugin) logf(format string, args ...any) {
	w := p.Err
	if w == nil {
		w = os.Stderr
	}
	fmt.Fprintf(w, format+"\n", args...)
}

// printValues fetches and prints all values in one write.
func (p *Plugin) printValues(ctx context.Context) error {
	now := p.now()
	if p.Fetch == nil {
		values, err := p.Values(ctx)
		if err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		return p.write(values, now)
	}
	stat, err := p.Fetch(ctx)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	last, err := p.lastState(now)
	if errors.Is(err, errRecent) {
		p.logf("nothing is printed: %v", err)
		return nil
	}
	if err != nil {
		p.logf("state is ignored: %v", err)
	}
	values := p.lines(stat, last, now)
	if err := p.saveState(stat, now); err != nil {
		p.logf("the counters are not kept for the next run: %v", err)
	}
	return p.write(values, now)
}

// write prints lines in one write.
func (p *Plugin) write(values []Value, now time.Time) error {
	var b []byte
	for _, v := range values {
		name := v.Name
		if p.Prefix != "" {
			name = p.Prefix + "." + name
		}
		switch {
		case math.IsNaN(v.Value) || math.IsInf(v.Value, 0):
			p.logf("%s: %v is left out", name, v.Value)
			continue
		case !validName.MatchString(name):
			p.logf("%q is no name of a metric: left out", name)
			continue
		}
		if v.Time.IsZero() {
			v.Time = now
		}
		b = fmt.Appendf(b, "%s\t%s\t%d\n", name, v.number(), v.Time.Unix())
	}
	if _, err := p.out().Write(b); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// number is %d for whole numbers, else %f.
func (v Value) number() string {
	// Beyond 2^63 the conversion to int depends on the architecture.
	if !v.Float && math.Abs(v.Value) < 1<<63 && v.Value == math.Trunc(v.Value) {
		return fmt.Sprintf("%d", int64(v.Value))
	}
	return fmt.Sprintf("%f", v.Value)
}

// validName is what Mackerel accepts as the name of a metric.
var validName = regexp.MustCompile(`^[-a-zA-Z0-9_.]+$`)

// Segment makes one segment of a name out of any text: what Mackerel does not
// accept there, points included, becomes an underscore. Different texts may become
// the same segment.
func Segment(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '_'
	}, s)
}
