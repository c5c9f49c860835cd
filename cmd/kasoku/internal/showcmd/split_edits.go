package showcmd

import (
	"io"
	"net/netip"
	"strings"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose/split"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/encode"
)

// printEdits prints what makes the layout that was asked for, or the first move.
func (f *splitFlags) printEdits(e *cli.Env, v *splitView, c *config.Config) error {
	addresses, err := f.privateAddresses(c)
	if err != nil {
		return err
	}
	p := v.plan
	if len(f.layout) == 0 && p.First < 0 {
		return cli.Usagef("--layout names another one", "no member is worth moving")
	}
	at := max(p.First, 0)
	steps := p.Edits(v.rec, p.Layouts[at].Layout, addresses)
	x := &editsView{splitView: v, of: &p.Layouts[at], Steps: steps}
	return f.Print(e, cli.Printer{Doc: x.document(), JSON: x.json})
}

// privateAddresses reads --addresses, and takes what [fleet] hosts has for the rest.
func (f *splitFlags) privateAddresses(c *config.Config) (map[string]netip.Addr, error) {
	out := map[string]netip.Addr{}
	if c != nil {
		for _, h := range c.Fleet.Hosts { // db=deploy@10.0.0.7
			name, at, ok := strings.Cut(h, "=")
			if a, err := netip.ParseAddr(at[strings.LastIndexByte(at, '@')+1:]); ok && err == nil {
				out[name] = a
			}
		}
	}
	for _, w := range f.addresses {
		name, at, ok := strings.Cut(w, "=")
		a, err := netip.ParseAddr(at)
		if !ok || err != nil || a.IsUnspecified() || a.IsLoopback() || a.Zone() != "" {
			return nil, cli.Usagef("such as db=10.0.0.4", "--addresses: %q is no HOST=ADDRESS of a network", w)
		}
		out[name] = a
	}
	return out, nil
}

// An editsView is edits being printed.
type editsView struct {
	*splitView
	split.Steps
	of *split.Prediction
}

func (x *editsView) document() *report.Document {
	words := x.plan.Words(x.of.Layout)
	d := &report.Document{Title: "kasoku split", File: x.path, Head: []string{x.path, words},
		Verdict: unit.Counted(len(x.Edits), "edit", "edits") + ", in this order, to be reviewed: " +
			x.gainWords(x.of) + "."}
	for i := range x.Edits {
		s := &x.Edits[i]
		where := s.File
		if where == "" {
			where = s.Where
		}
		sec := report.Section{ID: "edit", Title: s.Host + ": " + s.Title}
		if s.Patch {
			_, hunks, _ := strings.Cut(s.Text, "\n+++ ") // the lines that name the file
			_, hunks, _ = strings.Cut(hunks, "\n")
			sec.Blocks = append(sec.Blocks, report.NewDiff(s.File, "patch", hunks, 0))
		} else {
			sec.Blocks = append(sec.Blocks, textBlock(where, s.Text))
		}
		notes := &report.Notes{}
		for _, n := range [][2]string{{"check", s.Check}, {"apply", s.Apply}, {"back", strings.ReplaceAll(s.Back,
			"\n", " ")},
			{"fill in", strings.Join(s.Fill, ", ")}, {"note", s.Note}} {
			if n[1] != "" {
				notes.List = append(notes.List, report.Note{Sign: "·", Label: n[0], Text: n[1]})
			}
		}
		sec.Blocks = append(sec.Blocks, notes)
		d.Sections = append(d.Sections, sec)
	}
	if len(x.Order) > 0 {
		notes := &report.Notes{}
		for _, o := range x.Order {
			notes.List = append(notes.List, report.Note{Sign: "·", Text: o})
		}
		d.Sections = append(d.Sections, report.Section{ID: "last", Title: "In the end", Blocks: []report.Block{notes}})
	}
	return d
}

// textBlock shows a text with the name of where it goes.
func textBlock(name, text string) report.Block {
	d := &report.Diff{Name: name, Open: true}
	for line := range strings.Lines(text) {
		d.Lines = append(d.Lines, report.CodeLine{Sign: ' ', Text: strings.TrimRight(line, "\n")})
	}
	return d
}

// The JSON of split --edits; docs/json.md has the fields.
type (
	// SplitEdits is all of it.
	SplitEdits struct {
		Schema int         `json:"schema"`
		Kind   string      `json:"kind"`
		Run    string      `json:"run"`
		Layout splitLayout `json:"layout"`
		Edits  []splitEdit `json:"edits"`
		Last   []string    `json:"last"`
	}
	splitEdit struct {
		Host  string   `json:"host"`
		Title string   `json:"title"`
		File  string   `json:"file,omitempty"`
		Where string   `json:"where,omitempty"`
		Text  string   `json:"text"`
		Patch bool     `json:"patch"`
		Check string   `json:"check,omitempty"`
		Apply string   `json:"apply,omitempty"`
		Back  string   `json:"back"`
		Fill  []string `json:"fill_in"`
		Note  string   `json:"note,omitempty"`
	}
)

func (x *editsView) json(w io.Writer) error {
	out := SplitEdits{Schema: encode.Schema, Kind: "split edits", Run: x.rec.Run.ID, Layout: x.layoutJSON(x.of),
		Edits: []splitEdit{},
		Last:  append([]string{}, x.Order...)}
	for i := range x.Edits {
		s := &x.Edits[i]
		out.Edits = append(out.Edits, splitEdit{s.Host, s.Title, s.File, s.Where, s.Text, s.Patch, s.Check,
			s.Apply, s.Back,
			append([]string{}, s.Fill...), s.Note})
	}
	return encode.JSON(w, out)
}
