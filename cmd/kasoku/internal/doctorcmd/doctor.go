package doctorcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/initcmd"
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
	all := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check what a run can see: rights, logs, settings; and what would grant the rest",
		Long: `Check what kasoku can see and do here: for the kasoku.toml of this directory or
one above it, without one for what is found on this host. First stands what is
missing, then what a run would not see, the heaviest first, each with what is lost
without it, what it costs, and the line that grants it; what is well is named in a
line, and listed with --all. Nothing is changed.

It exits with 1 when something that kasoku.toml asks for cannot be done.`,
		Example: `  kasoku doctor
  kasoku doctor -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(); err != nil {
				return err
			}
			return e.WhileReading(cmd.Context(), func(ctx context.Context) error { return examineHost(ctx, e, &o, all) })
		},
	}
	cli.RegisterFormats(cmd, &o.Format, cli.Formats)
	cmd.Flags().BoolVar(&all, "all", false, "list also what is well")
	return cmd
}

// A patient is what is examined: this host, and what its configuration asks for.
type patient struct {
	ctx   context.Context
	e     *cli.Env
	c     *config.Config // the defaults when there is no file
	file  string         // its path; empty without
	found *topology.Found
	who   topology.Who
	host  topology.Host

	narrowed bool // what was found is the service's alone
	// application is the service's; nil where none, or more than one, is known.
	application *kasoku.Member
}

// configured reports whether a kasoku.toml asks for things.
func (p *patient) configured() bool { return p.file != "" }

// An exam is what the checks of every area have: the patient, and the list that they add
// to. What areas share are its own methods.
type exam struct {
	*patient
	*checklist
}

// A doctor examines a host.
type doctor struct{ exam }

func examineHost(ctx context.Context, e *cli.Env, o *cli.Output, all bool) error {
	d := &doctor{exam{&patient{ctx: ctx, e: e, who: topology.Me(), host: topology.CheckHost()}, &checklist{}}}
	var err error
	if d.c, err = cli.ReadConfig(""); err != nil {
		return err
	}
	if d.c == nil {
		c := config.Default()
		d.c = &c
	}
	d.file = d.c.Path
	// No program is asked for its numbers before it is known whose it is.
	if d.found, err = initcmd.LookAt(ctx, &kasoku.Service{}); err != nil {
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
	slices.SortStableFunc(d.checks, func(a, b check) int { return int(a.weight()) - int(b.weight()) })
	if err := d.print(o, all); err != nil {
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
	service := &serviceExam{exam: d.exam}
	return []area{
		{areaService, service.find}, {"load", loadExam{d.exam}.check}, {"database", databaseExam{d.exam}.check},
		{"logs", logExam{d.exam}.check}, {"servers", serverExam{d.exam}.check},
		{"sources", processExam{d.exam}.check}, {"configuration", captureExam{d.exam}.check},
		{"finalize", d.checkFinalize}, {"rights", func() { rightsExam{d.exam}.check(held) }}, {"host", d.checkHost},
		{areaService, service.check},
	}
}

// verdict reports whether a run can be made as it is configured.
func (d *doctor) verdict() string {
	switch n := d.cannot(); {
	case !d.configured():
		return "there is no " + config.Name + ": nothing is asked for yet"
	case n > 0:
		return fmt.Sprintf("%d of what %s asks for cannot be done", n, config.Name)
	}
	return "all that " + config.Name + " asks for can be done"
}

// print writes the list in the format asked for. On a terminal it is what is not well, unless
// all is asked for, and the lines that grant something stand alone at the end, unwrapped, to be
// pasted.
func (d *doctor) print(o *cli.Output, all bool) error {
	switch o.Format {
	case "json":
		return d.json(d.e.Stdout)
	case "tsv":
		return encode.TSV(d.e.Stdout, d.document(d.table()))
	case "md":
		return encode.Markdown(d.e.Stdout, d.document(append(d.sections(), d.grantSections()...)...))
	}
	sections := d.sections()
	if !all {
		sections = d.unwell()
	}
	if err := terminal.Write(d.e.Stdout, d.document(sections...), d.e.Terminal()); err != nil {
		return err
	}
	if err := d.printGrants(d.e.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(d.e.Stdout, "\nnext  %s %s\n", d.e.Name, d.next())
	return err
}

// next is the command that comes after this one.
func (d *doctor) next() string {
	switch {
	case !d.configured():
		return "init"
	case d.cannot() > 0:
		return "doctor   when that is done"
	}
	return "run"
}

func (d *doctor) document(sections ...report.Section) *report.Document {
	source := "no " + config.Name + ": what runs here"
	if d.file != "" {
		source = d.file
	}
	return &report.Document{Kind: report.KindDoctor, Title: "kasoku doctor", Verdict: d.verdict(),
		Head: []string{d.found.Host, "as " + d.who.Name, source}, Sections: sections}
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

// Examination is the JSON of doctor; docs/json.md has the fields.
type Examination struct {
	Schema int     `json:"schema"`
	Kind   string  `json:"kind"`
	Host   string  `json:"host"`
	User   string  `json:"user"`
	Config string  `json:"config,omitempty"`
	Good   bool    `json:"good"`
	Checks []check `json:"checks"`
}

func (d *doctor) json(w io.Writer) error {
	return encode.JSON(w, Examination{encode.Schema, "doctor", d.found.Host, d.who.Name, d.file, d.cannot() == 0, d.checks})
}
