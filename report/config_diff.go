package report

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
)

// A Diff is how one text differs, as a unified diff.
type Diff struct {
	Name string // of the text: a path, a table
	What string // in few words: "+2 −1"
	Open bool   // shown unfolded where it can be folded
	// Lines of the diff; Sign is that of the diff, '@' at the head of a hunk.
	Lines []CodeLine
	More  string // what was left out
}

func (*Diff) block() {}

// What of diffs is shown at most.
const (
	mostDiffs     = 30
	mostDiffLines = 1500 // of all
	unfolded      = 25   // lines of a diff that is shown unfolded
)

// NewDiff makes a block of the hunks of a unified diff; left lines more were cut.
func NewDiff(name, what, hunks string, left int) *Diff {
	d := &Diff{Name: name, What: what}
	for line := range strings.Lines(hunks) {
		l := CodeLine{Sign: ' ', Text: strings.TrimRight(line, "\r\n")}
		if strings.IndexByte("+-@", line[0]) >= 0 {
			l.Sign = line[0]
		}
		d.Lines = append(d.Lines, l)
	}
	d.Open = len(d.Lines) <= unfolded
	if left > 0 {
		d.More = unit.Counted(left, "more line", "more lines")
	}
	return d
}

// configDiffs shows how the texts of the configuration differ.
func configDiffs(diffs []compare.ConfigDiff) (out []Block) {
	lines := 0
	var rest []string
	for i := range diffs {
		c := &diffs[i]
		d := NewDiff(textName(c.Host, c.Kind, c.Name), c.String(), c.Diff, c.Left)
		if lines += len(d.Lines); i >= mostDiffs || lines > mostDiffLines {
			rest = append(rest, d.Name)
			continue
		}
		if len(d.Lines) == 0 {
			d.More = whyNoDiff(c)
		}
		out = append(out, d)
	}
	if n := len(rest); n > 0 {
		out = append(out, &Notes{List: []Note{{Sign: "·", Tone: Dim, Label: unit.Count(n) + " more", Text: strings.Join(rest, ", ")}}})
	}
	return out
}

func whyNoDiff(c *compare.ConfigDiff) string {
	for _, side := range []*kasoku.Config{c.Before, c.After} {
		if side != nil && side.Note != "" {
			return "the text was not kept: " + side.Note
		}
	}
	return ""
}

// textName is what a text of the configuration is called: a path says enough.
func textName(host, kind, name string) string {
	if !strings.HasPrefix(name, "/") {
		name = kind + " " + name
	}
	if host != "" {
		name = host + " " + name
	}
	return name
}

// Texts lists the texts of the configuration that a run was kept with.
func Texts(run *kasoku.Recording, o Options) *Document {
	r := rec{run, o}
	d := &Document{
		Kind: KindRun, Project: run.Run.Project, Name: r.name(), File: o.File, Footer: footer(o, run.Run.Version),
		Title: strings.TrimSpace(run.Run.Project + " " + r.name()), Head: r.head(), Verdict: r.textsSaid(),
	}
	d.put(Options{}, "texts", r.textsSection)
	return d
}

// textsSection lists the texts.
func (r rec) textsSection() Section {
	run := r.Recording
	s := Section{ID: SectionConfig, Title: "Configuration in force", Short: "Configuration", Count: len(run.Configs)}
	s.Sub = "`kasoku show RUN --config NAME` prints one text. Secrets are masked."
	if len(run.Configs) == 0 {
		s.Blocks = []Block{Para{Text: "The run keeps no texts of the configuration."}}
		return s
	}
	t := &Table{ID: "texts", Columns: []Column{
		{Key: "kind", Head: "kind"},
		{Key: "name", Head: "name", Code: true, Cut: true},
		{Key: "bytes", Head: "bytes", Align: Right},
		{Key: "masked", Head: "masked", Align: Right, Drop: 1},
		{Key: "mode", Head: "mode", Drop: 2},
		{Key: "note", Head: "note"},
	}}
	for _, c := range run.Configs {
		name, mode := c.Name, none()
		if len(run.Run.Hosts) > 1 && c.Host != "" {
			name = c.Host + " " + name
		}
		if c.Mode != 0 {
			mode = text(fmt.Sprintf("%04o", c.Mode&0o777))
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(c.Kind), text(name), count(uint64(len(c.Text))), count(uint64(c.Masked)), mode, text(c.Note)}})
	}
	s.Blocks = []Block{t}
	return s
}

// textsSaid counts the texts by kind: "12 texts: 3 nginx, 8 schema, 1 git".
func (r rec) textsSaid() string {
	if len(r.Configs) == 0 {
		return ""
	}
	var kinds []string
	n := map[string]int{}
	for _, c := range r.Configs {
		if n[c.Kind] == 0 {
			kinds = append(kinds, c.Kind)
		}
		n[c.Kind]++
	}
	for i, k := range kinds {
		kinds[i] = unit.Count(n[k]) + " " + k
	}
	return unit.Counted(len(r.Configs), "text", "texts") + " of the configuration: " + list(kinds)
}
