package doctorcmd

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/diagnose/settings"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/findings"
	"github.com/kasoku/kasoku/report/terminal"
)

// An adviser is advice being printed.
type adviser struct {
	e *cli.Env
	settings.Result
	in     settings.Input
	source string
	risk   kasoku.Risk // the greatest that is allowed
}

// toSet counts the variables to set whose risk is allowed.
func (a *adviser) toSet() int {
	n := 0
	for _, x := range a.Advice {
		if x.Variable != "" && settings.Within(x.Risk, a.risk) {
			n++
		}
	}
	return n
}

func (a *adviser) verdict() string {
	set, risky, look := a.toSet(), 0, 0
	for _, x := range a.Advice {
		switch {
		case x.Variable == "":
			look++
		case !settings.Within(x.Risk, a.risk):
			risky++
		}
	}
	text := unit.Counted(uint64(set), "setting", "settings") + " to change"
	if risky > 0 {
		text += fmt.Sprintf(", %d at a price", risky)
	}
	if look > 0 {
		text += ", " + unit.Counted(uint64(look), "thing", "things") + " to look at"
	}
	text += "; " + unit.Counted(uint64(len(a.Quiet)), "check has", "checks have") + " nothing to say"
	if n := len(a.Unseen); n > 0 {
		text += ", " + unit.Counted(uint64(n), "check", "checks") + " could not look"
	}
	return text
}

func (a *adviser) print(o *cli.Output) error {
	switch o.Format {
	case "json":
		return a.json(a.e.Stdout)
	case "tsv":
		return encode.TSV(a.e.Stdout, a.document(a.table()))
	case "md":
		return encode.Markdown(a.e.Stdout, a.document(append([]report.Section{a.table()}, a.rest(true)...)...))
	}
	if err := terminal.Write(a.e.Stdout, a.document(append(a.areas(), a.rest(false)...)...),
		a.e.Terminal()); err != nil {
		return err
	}
	return a.printPlaces(a.e.Stdout)
}

func (a *adviser) document(sections ...report.Section) *report.Document {
	head := []string{a.source}
	if a.Server != "" {
		head = append(head, a.Server)
	}
	if a.in.Memory.RAM > 0 {
		head = append(head, unit.BytesIEC(a.in.Memory.RAM)+" "+a.in.Memory.From)
	}
	return &report.Document{Title: "kasoku advise", Verdict: a.verdict(), Head: head, Sections: sections}
}

// areas lists advice by area, the area with the worst first.
func (a *adviser) areas() []report.Section {
	var out []report.Section
	find := func(area string) *report.Notes {
		for i := range out {
			if out[i].ID == area {
				return out[i].Blocks[0].(*report.Notes)
			}
		}
		notes := &report.Notes{}
		out = append(out, report.Section{ID: area, Title: area, Blocks: []report.Block{notes}})
		return notes
	}
	for i := 0; i < len(a.Advice); {
		n := i + 1
		for n < len(a.Advice) && a.Advice[n].ID == a.Advice[i].ID && a.Advice[n].Title == a.Advice[i].Title {
			n++
		}
		notes := find(a.Advice[i].Area)
		notes.List = append(notes.List, adviceNotes(a.Advice[i:n])...)
		i = n
	}
	return out
}

// adviceNotes are the lines of one advice, which may have several variables.
func adviceNotes(same []kasoku.Advice) []report.Note {
	x := same[0]
	more := func(tone report.Tone, text string) report.Note {
		return report.Note{Sign: " ", Tone: tone, Code: true, Text: text}
	}
	out := []report.Note{
		{Sign: "!", Tone: report.Mark, Label: x.ID, Code: true, Text: x.Title},
		more(report.Plain, evidenceLine(x)),
	}
	for _, y := range same {
		if y.Variable != "" {
			out = append(out, more(report.Plain, fmt.Sprintf("%s: %s → %s; risk %s, confidence %s", y.Variable,
				findings.AdvisedValue(y.Variable, y.Value), findings.AdvisedValue(y.Variable,
					y.Proposed), y.Risk, y.Confidence.Level)))
		}
	}
	if x.Gain != "" {
		out = append(out, more(report.Plain, "gain: "+x.Gain))
	}
	if x.Price != "" {
		out = append(out, more(report.Plain, "price: "+x.Price))
	}
	if note := strings.TrimSpace(x.Note); note != "" {
		out[len(out)-1].Hint = report.Prose(note)
	}
	return out
}

// evidenceLine is "Slow_queries / Questions = 7.0 %: 7 of 100 (threshold > 5 %), 34 s of load".
func evidenceLine(a kasoku.Advice) string {
	text := fmt.Sprintf("%s = %s (threshold %s)", a.Formula, a.Measured, a.Threshold)
	if a.Window != settings.Now {
		text += ", " + a.Window
	}
	return text
}

// rest is what could not be seen; on a terminal without its grants, which stand below.
func (a *adviser) rest(grants bool) []report.Section {
	if len(a.Unseen) == 0 {
		return nil
	}
	notes := &report.Notes{}
	for _, w := range a.unseen() {
		n := report.Note{Sign: "·", Label: w.label(), Code: true, Text: w.why}
		if w.grant != "" && (grants || !strings.HasPrefix(w.grant, "GRANT ")) {
			n.Hint = report.Prose(w.grant)
		}
		notes.List = append(notes.List, n)
	}
	return []report.Section{{ID: "unseen", Title: "Not seen", Blocks: []report.Block{notes}}}
}

// A blindness is one reason with the checks that it keeps from looking.
type blindness struct {
	ids        []string
	why, grant string
}

// label names a few checks, and counts many.
func (b blindness) label() string {
	if len(b.ids) > 3 {
		return strconv.Itoa(len(b.ids)) + " checks"
	}
	return strings.Join(b.ids, " ")
}

func (a *adviser) unseen() []blindness {
	var out []blindness
	for _, u := range a.Unseen {
		i := 0
		for i < len(out) && (out[i].why != u.Why || out[i].grant != u.Grant) {
			i++
		}
		if i == len(out) {
			out = append(out, blindness{why: u.Why, grant: u.Grant})
		}
		out[i].ids = append(out[i].ids, u.ID)
	}
	return out
}

// places are the lines to be pasted, by where.
func (a *adviser) places() []place {
	var out []place
	add := func(where string, lines []string) {
		if len(lines) > 0 {
			out = append(out, place{where, lines})
		}
	}
	now := "now, until the next restart"
	if a.Persist {
		now += " (SET PERSIST instead of SET GLOBAL keeps it)"
	}
	const price = ", at the price above"
	calm, all := settings.Statements(a.Advice, a.risk), settings.Statements(a.Advice, kasoku.RiskSemantics)
	add(now, calm)
	add(now+price, linesWithout(all, calm))
	calm, all = settings.ConfLines(a.Advice, a.risk), settings.ConfLines(a.Advice, kasoku.RiskSemantics)
	add("in my.cnf, below [mysqld]", calm)
	add("in my.cnf, below [mysqld]"+price, linesWithout(all, calm))
	var grants []string
	for _, w := range a.unseen() {
		if strings.HasPrefix(w.grant, "GRANT ") && !slices.Contains(grants, w.grant) {
			grants = append(grants, w.grant)
		}
	}
	add(inDatabase+", to see the rest", grants)
	return out
}

// linesWithout returns the lines of a list that another one lacks.
func linesWithout(all, other []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(l string) bool { return slices.Contains(other, l) })
}

func (a *adviser) printPlaces(w io.Writer) error {
	var b strings.Builder
	for _, p := range a.places() {
		fmt.Fprintf(&b, "\n%s\n", terminal.Bold(cli.PlainLine(p.where), a.e.Terminal()))
		for _, l := range p.lines {
			b.WriteString("  " + cli.PlainLine(l) + "\n")
		}
	}
	b.WriteString("\n" + a.verdict() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// table has the advice for machines.
func (a *adviser) table() report.Section {
	return report.Section{ID: findings.SectionAdvice, Title: "Advice",
		Blocks: []report.Block{findings.AdviceTable(a.Advice)}}
}

// The JSON of advise; docs/json.md has the fields.
type (
	// Advised is all of it.
	Advised struct {
		Schema  int             `json:"schema"`
		Kind    string          `json:"kind"`
		Source  string          `json:"source"`
		Server  string          `json:"server,omitempty"`
		Host    string          `json:"host,omitempty"`
		Window  *float64        `json:"window_s"`
		RAM     *uint64         `json:"ram_bytes"`
		RAMFrom string          `json:"ram_from,omitempty"`
		Persist bool            `json:"persist"`
		Verdict string          `json:"verdict"`
		Advice  []encode.Advice `json:"advice"`
		Unseen  []unseenCheck   `json:"unseen"`
		Quiet   []quietCheck    `json:"quiet"`
	}
	unseenCheck struct {
		ID    string `json:"id"`
		Title string `json:"title"`
		Why   string `json:"why"`
		Grant string `json:"grant,omitempty"`
	}
	quietCheck struct {
		ID        string `json:"id"`
		Title     string `json:"title"`
		Formula   string `json:"formula"`
		Measured  string `json:"measured"`
		Threshold string `json:"threshold"`
	}
)

func (a *adviser) json(w io.Writer) error {
	out := Advised{
		Schema: encode.Schema, Kind: "advise", Source: a.source, Server: a.Server, Host: a.in.Host, RAMFrom: a.in.Memory.From, Persist: a.Persist, Verdict: a.verdict(),
		Advice: []encode.Advice{}, Unseen: []unseenCheck{}, Quiet: []quietCheck{},
	}
	if a.in.Grown != nil {
		seconds := a.in.Window.Seconds()
		out.Window = &seconds
	}
	if a.in.Memory.RAM > 0 {
		out.RAM = &a.in.Memory.RAM
	}
	for i := range a.Advice {
		out.Advice = append(out.Advice, encode.NewAdvice(&a.Advice[i]))
	}
	for _, u := range a.Unseen {
		out.Unseen = append(out.Unseen, unseenCheck{u.ID, u.Title, u.Why, u.Grant})
	}
	for _, q := range a.Quiet {
		out.Quiet = append(out.Quiet, quietCheck(q))
	}
	return encode.JSON(w, out)
}
