// Command mackerel-plugin-graphite is a metric plugin for Mackerel: what carbon
// (cache, relay, aggregator) and go-carbon say of themselves, asked of the render
// API of graphite-web, of what stands in for it, or of go-carbon's own carbonserver.
//
// Flags, keys and labels are those of mackerelio/mackerel-plugin-graphite. The
// relay's metricsReceived is right here: it is misspelt there and never printed.
// More metrics, aggregators and go-carbon are known.
//
// All points of the last 15 minutes are printed with their own times, as the newest
// one is often not there yet. The agent keeps the last one of each name, so the newest
// one comes last; with use_plugin_timestamp it keeps its time, too.
package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel/plugin"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

const name = "mackerel-plugin-graphite"

type options struct {
	Host        string        `long:"host" value-name:"HOST" description:"that carbon runs on, as in its metrics (default: this host)"`
	WebHost     string        `long:"webhost" value-name:"HOST" default:"localhost" description:"of graphite-web; with https:// in front when it wants that"`
	WebPort     string        `long:"webport" value-name:"PORT" description:"of graphite-web (default: that of the scheme)"`
	Type        string        `long:"type" value-name:"cache|relay|aggregator|go-carbon" description:"what to ask for" required:"true"`
	Instance    string        `long:"instance" value-name:"NAME" description:"of a cache (default: all), a relay or an aggregator (needed)"`
	LabelPrefix string        `long:"metric-label-prefix" value-name:"TEXT" default:"Carbon" description:"that the labels of graphs begin with"`
	Tempfile    string        `long:"tempfile" value-name:"FILE" description:"not used; for old configurations"`
	Timeout     time.Duration `long:"timeout" value-name:"DURATION" default:"20s" description:"for the answer"`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, os.Getenv)) }

func run(args []string, stdout, stderr io.Writer, getenv func(string) string) int {
	var o options
	f := program.Flags{Name: name, Stdout: stdout, Stderr: stderr,
		About: "Prints the own metrics of carbon and go-carbon for mackerel-agent. Long flags may have one dash."}
	if _, code, done := f.Parse(&o, program.SingleDash(&o, args)); done {
		return code
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.Timeout)
	defer cancel()
	if err := answer(ctx, o, stdout, stderr, getenv); err != nil {
		program.Complain(stderr, name, err)
		return 1
	}
	return 0
}

// answer asks the render API once and prints definitions or values.
func answer(ctx context.Context, o options, stdout, stderr io.Writer, getenv func(string) string) error {
	src, err := o.source()
	if err != nil {
		return err
	}
	all, err := src.fetch(ctx)
	if err != nil {
		return err
	}
	p := &plugin.Plugin{
		Prefix: "graphite-carbon",
		Graphs: graphs(src.kind, all, o.LabelPrefix),
		Values: func(context.Context) ([]plugin.Value, error) { return values(src.kind, all), nil },
		Out:    stdout, Err: stderr, Getenv: getenv,
	}
	return p.Run(ctx)
}

// graphs returns a graph for each metric that is known, with a line for each
// instance or destination that has data of any kind: the agent asks once, at its
// start, when some metrics may have none yet.
func graphs(k kind, all []series, labelPrefix string) []plugin.Graph {
	nodes, destinations := lines(all)
	var out []plugin.Graph
	for _, m := range k.metrics() {
		g := plugin.Graph{Key: k.key + "." + m.key, Label: labelPrefix + " " + m.label, Unit: m.unit}
		switch {
		case strings.HasPrefix(m.key, "destinations_"):
			g.Metrics = destinations
		case k.perNode:
			g.Metrics = nodes
		default:
			g.Metrics = []plugin.Metric{{Name: m.key, Label: m.key}}
		}
		if len(g.Metrics) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// values returns all points that have a value.
func values(k kind, all []series) []plugin.Value {
	known := map[string]metric{}
	for _, m := range k.metrics() {
		known[m.key] = m
	}
	var out []plugin.Value
	for _, s := range all {
		m, ok := known[s.metric]
		if !ok {
			continue
		}
		line := m.key
		switch {
		case s.destination != "":
			line = segment(s.destination)
		case k.perNode:
			line = segment(s.node)
		}
		for _, p := range s.points {
			v := plugin.Value{Name: k.key + "." + m.key + "." + line, Value: p.Value, Time: time.Unix(p.Time, 0),
				Float: m.unit == plugin.Float}
			if !v.Float {
				v.Value = float64(int64(p.Value)) // of integers: an average over time has a fraction
			}
			out = append(out, v)
		}
	}
	return out
}

// segment is a name in a key: of a destination 127_0_0_1:2004:a the colons become
// dashes.
func segment(s string) string { return plugin.Segment(strings.ReplaceAll(s, ":", "-")) }
