package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/coordinate"
	"github.com/kasoku/kasoku/fleet/gather"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/encode"
)

// FleetExamination is the JSON of fleet doctor; docs/json.md has the fields.
type FleetExamination struct {
	Schema int         `json:"schema"`
	Kind   string      `json:"kind"` // fleet doctor
	Checks []hostCheck `json:"checks"`
}

// A hostCheck is one thing that was looked at on a host.
type hostCheck struct {
	Host  string `json:"host"`
	Check string `json:"check"` // answers, release, clock, load, logs, record
	OK    bool   `json:"ok"`
	Seen  string `json:"seen"`
	Do    string `json:"do,omitempty"` // what mends it
}

func newFleetDoctor(e *cli.Env) *cobra.Command {
	var out cli.Output
	var hub string
	cmd := &cobra.Command{
		Use:   "doctor [HOST...]",
		Short: "Check what each host of the fleet can do, and what it lacks",
		Long: `Check of each member of the fleet, or of those named, whether it answers, whether its kasoku
is of this release, how well its clock can be compared, and what it may be asked. A
host that may be recorded prepares a recording, as its own kasoku.toml says, which
is forgotten before anything is changed.`,
		Example: "  kasoku fleet doctor\n  kasoku fleet doctor web db -o json",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := out.Check(); err != nil {
				return err
			}
			ctx, stop := e.ReadingInterruptible(cmd.Context())
			defer stop()
			all, err := examine(ctx, e, hub, names)
			if err != nil {
				return err
			}
			if err := out.Print(e, cli.Printer{Doc: doctorDocument(all, e),
				JSON: func(w io.Writer) error { return encode.JSON(w, FleetExamination{encode.Schema, "fleet doctor", all}) }}); err != nil {
				return err
			}
			if lacking(all) > 0 {
				return cli.Bad("not all hosts can do what they may be asked")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&hub, "hub", "", "`DIRECTORY` of the hub; default that of `kasoku hub`")
	out.Register(cmd)
	return cmd
}

// examine looks at the hosts, all at once.
func examine(ctx context.Context, e *cli.Env, hub string, names []string) ([]hostCheck, error) {
	d, err := existing(e, hub)
	if err != nil {
		return nil, err
	}
	members, err := d.Members()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if members[name] == "" {
			return nil, cli.Usagef("`kasoku hub status` lists them", "no host %q is a member", name)
		}
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(members))
	}
	if len(names) == 0 {
		return nil, cli.WithHint(errors.New("the fleet has no hosts"), "kasoku fleet up HOST… brings them up")
	}
	conn, err := Connect(ctx, e, d.Path, nil)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	checks := make([][]hostCheck, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(contain.Func(contain.Part{Kind: contain.Step, Name: "recording"},
			func() { checks[i] = examineHost(ctx, conn, name) }))
	}
	all.Wait()
	return slices.Concat(checks...), nil
}

// examineHost looks at one host.
func examineHost(ctx context.Context, b coordinate.Bus, name string) (out []hostCheck) {
	add := func(check string, err error, seen, do string) {
		c := hostCheck{Host: name, Check: check, OK: err == nil, Seen: seen}
		if err != nil {
			c.Seen, c.Do = fleet.Clean(strings.TrimPrefix(err.Error(), name+": ")), do
		}
		out = append(out, c)
	}
	g, clock, err := coordinate.Greet(ctx, b, name)
	add("answers", err, "yes", "is its agent running? kasoku fleet up "+name+", or kasoku agent there")
	if err != nil {
		return out
	}
	own := cli.VersionString()
	if g.Program != own {
		err = fmt.Errorf("%s, and this is %s", fleet.Clean(g.Program), own)
	}
	add("release", err, fleet.Clean(g.Program), "kasoku fleet up "+name+" copies this one")
	_, bound := clock.Offset()
	add("clock", nil, "compared to ± "+unit.Duration(bound), "")
	var loads, patterns []string
	records := false
	for _, a := range g.Allowed {
		if url, ok := strings.CutPrefix(a, "load="); ok {
			loads = append(loads, fleet.Clean(url))
		}
		if pattern, ok := strings.CutPrefix(a, fleet.Logs+"="); ok {
			patterns = append(patterns, fleet.Clean(pattern))
		}
		kind, _, _ := strings.Cut(a, "=")
		records = records || kind == fleet.Record
	}
	if len(loads) > 0 {
		add("load", nil, "to "+strings.Join(loads, ", "), "")
	}
	if len(patterns) > 0 {
		add("logs", nil, strings.Join(patterns, ", "), "")
	}
	if records {
		add("record", tryRecording(ctx, b, name), "it can be recorded",
			"look at the kasoku.toml that its agent's --allow record= names")
	}
	if len(g.Allowed) == 0 {
		add("allowed", errors.New("it may be asked nothing"), "",
			"on that host: kasoku agent --allow load=URL, --allow record=FILE, --allow logs=PATTERN")
	}
	return out
}

// tryRecording has a host prepare a recording, and forget it.
func tryRecording(ctx context.Context, b coordinate.Bus, name string) error {
	g, err := gather.Prepare(ctx, b, gather.Options{Hosts: []string{name}})
	if err != nil {
		return err
	}
	defer g.Cancel()
	return g.Prepared(ctx)
}

func lacking(all []hostCheck) (n int) {
	for _, c := range all {
		if !c.OK {
			n++
		}
	}
	return n
}

func doctorDocument(all []hostCheck, e *cli.Env) *report.Document {
	o := e.ReportOptions("")
	d := &report.Document{Kind: report.KindFleet, Title: "fleet doctor",
		Verdict: "Each host can do what it may be asked.",
		Footer:  report.FooterOf(o, "")}
	if n := lacking(all); n > 0 {
		d.Verdict = unit.Counted(uint64(n), "thing is", "things are") + " not as they should be."
	}
	t := &report.Table{ID: "checks", Columns: []report.Column{{Key: "host", Head: "host", Cut: true}, {Key: "check",
		Head: "check"},
		{Key: "ok", Head: "ok"}, {Key: "seen", Head: "seen", Cut: true}, {Key: "do", Head: "what mends it", Cut: true}}}
	for _, c := range all {
		ok := cell.Text("yes")
		if !c.OK {
			ok = cell.Text("no")
			ok.Tone = report.Bad
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(c.Host), cell.Text(c.Check), ok,
			cell.Text(c.Seen), cell.Text(c.Do)}})
	}
	d.PutSection(o, "checks", func() report.Section {
		return report.Section{ID: "checks", Title: "Checks", Count: len(all), Blocks: []report.Block{t}}
	})
	return d
}
