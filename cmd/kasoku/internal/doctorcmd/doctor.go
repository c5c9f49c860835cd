package doctorcmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/confine"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/topology"
)

// NewDoctor returns the command doctor, which checks what a run can see.
func NewDoctor(e *cli.Env) *cobra.Command {
	var o cli.Output
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what a run can see: rights, logs, settings; and what would grant the rest",
		Long: `Check what kasoku can see and do here: for the kasoku.toml of this directory or
one above it, without one for what is found on this host. Each line is ok, a
warning or missing; what is missing comes with what is lost without it, what it
costs, and the line that grants it. Nothing is changed.

It exits with 1 when something that kasoku.toml asks for cannot be done.`,
		Example: `  kasoku doctor
  kasoku doctor -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(); err != nil {
				return err
			}
			return e.WhileReading(cmd.Context(), func(ctx context.Context) error { return examineHost(ctx, e, &o) })
		},
	}
	cmd.Flags().StringVarP(&o.Format, "output", "o", "text", "`FORMAT`: text, json, tsv or md")
	cli.CompleteFormats(cmd, "output")
	return cmd
}

// A checkState says how a check came out.
type checkState string

const (
	checkOK      checkState = "ok"
	checkWarn    checkState = "warn"    // a run goes on, and sees less
	checkMissing checkState = "missing" // it cannot be done at all
)

// A grant is a line that mends what is missing.
type grant struct {
	Where string `json:"where"` // root shell, database, a file
	Line  string `json:"line"`
}

// Where grants are typed.
const (
	inRootShell = "as root, in a shell"
	inShell     = "in a shell"
	inDatabase  = "in the database, as its administrator"
)

// A check is one line of the list.
type check struct {
	Area   string     `json:"area"`
	Name   string     `json:"name"`
	State  checkState `json:"state"`
	Asked  bool       `json:"asked"` // kasoku.toml asks for it
	Seen   string     `json:"seen"`
	Lost   string     `json:"lost,omitempty"`
	Cost   string     `json:"cost,omitempty"`
	Grants []grant    `json:"grants"`
}

// A doctor gathers checks.
type doctor struct {
	ctx    context.Context
	e      *cli.Env
	c      *config.Config // the defaults when there is no file
	file   string         // its path; empty without
	found  *topology.Found
	who    topology.Who
	host   topology.Host
	checks []check
}

// ok adds a check that found nothing to mend.
func (d *doctor) ok(area, name, format string, args ...any) {
	d.add(check{Area: area, Name: name, State: checkOK, Seen: fmt.Sprintf(format, args...)})
}

func (d *doctor) add(c check) {
	if c.Grants == nil {
		c.Grants = []grant{}
	}
	d.checks = append(d.checks, c)
}

// configured reports whether a kasoku.toml asks for things.
func (d *doctor) configured() bool { return d.file != "" }

func examineHost(ctx context.Context, e *cli.Env, o *cli.Output) error {
	d := &doctor{ctx: ctx, e: e, who: topology.Me(), host: topology.CheckHost()}
	var err error
	if d.c, err = cli.ReadConfig(""); err != nil {
		return err
	}
	if d.c == nil {
		c := config.Default()
		d.c = &c
	}
	d.file = d.c.Path
	if d.found, err = topology.Look(ctx, topology.Options{}); err != nil {
		return err
	}
	held, err := confine.Held()
	if err != nil {
		return err
	}
	for _, area := range d.areas(held) {
		if bug := contain.Run(contain.Part{Kind: contain.Check, Name: area.name}, area.look); bug != nil {
			d.add(check{Area: area.name, Name: "check", State: checkWarn, Seen: "this part is lost: " + bug.Error()})
		}
	}
	if err := d.print(o); err != nil {
		return err
	}
	if d.cannot() > 0 {
		return cli.Bad(d.verdict())
	}
	return nil
}

// An area is a group of checks. One that panics is a warning; the others are done.
type area struct {
	name string
	look func()
}

// areas returns all groups of checks, in their order.
func (d *doctor) areas(held confine.Set) []area {
	return []area{
		{"load", d.checkLoad}, {"database", d.checkMySQL}, {"logs", d.checkLogs}, {"servers", d.checkServers},
		{"sources", d.checkWatch}, {"configuration", d.checkCapture}, {"finalize", d.checkFinalize},
		{"rights", func() { d.checkRights(held) }}, {"host", d.checkHost},
	}
}

// verdict says whether a run can be made as it is configured.
func (d *doctor) verdict() string {
	switch n := d.cannot(); {
	case !d.configured():
		return "there is no " + config.Name + ": nothing is asked for yet"
	case n > 0:
		return fmt.Sprintf("%d of what %s asks for cannot be done", n, config.Name)
	}
	return "all that " + config.Name + " asks for can be done"
}

// cannot counts what is asked for and missing.
func (d *doctor) cannot() int {
	n := 0
	for _, c := range d.checks {
		if c.Asked && c.State == checkMissing {
			n++
		}
	}
	return n
}

// print writes the list in the format asked for. On a terminal the lines that
// grant something stand alone at the end, unwrapped, to be pasted.
func (d *doctor) print(o *cli.Output) error {
	switch o.Format {
	case "json":
		return d.json(d.e.Stdout)
	case "tsv":
		return encode.TSV(d.e.Stdout, d.document(d.table()))
	case "md":
		return encode.Markdown(d.e.Stdout, d.document(append(d.sections(), d.grantSections()...)...))
	}
	if err := terminal.Write(d.e.Stdout, d.document(d.sections()...), d.e.Terminal()); err != nil {
		return err
	}
	return d.printGrants(d.e.Stdout)
}

func (d *doctor) document(sections ...report.Section) *report.Document {
	source := "no " + config.Name + ": what runs here"
	if d.file != "" {
		source = d.file
	}
	return &report.Document{Title: "kasoku doctor", Verdict: d.verdict(), Head: []string{d.found.Host, "as " + d.who.Name, source}, Sections: sections}
}

// signs are how a state looks.
var signs = map[checkState]struct {
	sign string
	tone report.Tone
}{checkOK: {"✓", report.Good}, checkWarn: {"!", report.Mark}, checkMissing: {"✗", report.Bad}}

// sections lists the checks, one section an area.
func (d *doctor) sections() []report.Section {
	var out []report.Section
	for _, c := range d.checks {
		if len(out) == 0 || out[len(out)-1].ID != c.Area {
			out = append(out, report.Section{ID: c.Area, Title: c.Area, Blocks: []report.Block{&report.Notes{}}})
		}
		notes := out[len(out)-1].Blocks[0].(*report.Notes)
		s := signs[c.State]
		n := report.Note{Sign: s.sign, Tone: s.tone, Label: c.Name, Code: true, Text: c.Seen}
		if c.State == checkMissing {
			n.Text = "missing: " + n.Text
		}
		if c.Lost != "" {
			n.Text += "; lost: " + c.Lost
		}
		if c.Cost != "" {
			n.Text += "; the grant costs: " + c.Cost
		}
		notes.List = append(notes.List, n)
	}
	return out
}

// table has the checks for machines.
func (d *doctor) table() report.Section {
	t := &report.Table{ID: "checks"}
	for _, key := range []string{"area", "check", "state", "asked", "seen", "lost", "cost", "grant"} {
		t.Columns = append(t.Columns, report.Column{Key: key, Head: key})
	}
	for _, c := range d.checks {
		var lines []string
		for _, g := range c.Grants {
			lines = append(lines, g.Line)
		}
		var cells []report.Cell
		for _, s := range []string{c.Area, c.Name, string(c.State), fmt.Sprint(c.Asked), c.Seen, c.Lost, c.Cost, strings.Join(lines, "; ")} {
			cells = append(cells, report.Cell{Text: s})
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return report.Section{ID: "checks", Title: "Checks", Blocks: []report.Block{t}}
}

// A place is where grants are typed, with those, each once.
type place struct {
	where string
	lines []string
}

func (d *doctor) places() []place {
	var out []place
	seen := map[grant]bool{}
	for _, c := range d.checks {
		for _, g := range c.Grants {
			if seen[g] {
				continue
			}
			seen[g] = true
			i := 0
			for i < len(out) && out[i].where != g.Where {
				i++
			}
			if i == len(out) {
				out = append(out, place{where: g.Where})
			}
			out[i].lines = append(out[i].lines, g.Line)
		}
	}
	return out
}

// printGrants writes the lines to be pasted.
func (d *doctor) printGrants(w io.Writer) error {
	var b strings.Builder
	for _, p := range d.places() {
		fmt.Fprintf(&b, "\n%s\n", terminal.Bold(cli.PlainLine(p.where), d.e.Terminal()))
		for _, line := range p.lines {
			for l := range strings.SplitSeq(line, "\n") {
				b.WriteString("  " + cli.PlainLine(l) + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// grantSections are the same lines for Markdown.
func (d *doctor) grantSections() []report.Section {
	var out []report.Section
	for _, p := range d.places() {
		s := report.Section{ID: "grants", Title: p.where}
		for _, line := range p.lines {
			s.Blocks = append(s.Blocks, report.Para{Text: report.Prose("`" + strings.ReplaceAll(line, "\n", "` `") + "`")})
		}
		out = append(out, s)
	}
	return out
}

// examined is the JSON of doctor; docs/json.md has the fields.
type examined struct {
	Schema int     `json:"schema"`
	Kind   string  `json:"kind"`
	Host   string  `json:"host"`
	User   string  `json:"user"`
	Config string  `json:"config,omitempty"`
	Good   bool    `json:"good"`
	Checks []check `json:"checks"`
}

func (d *doctor) json(w io.Writer) error {
	return encode.JSON(w, examined{1, "doctor", d.found.Host, d.who.Name, d.file, d.cannot() == 0, d.checks})
}
