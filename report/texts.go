package report

import (
	"fmt"
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"strings"
)

// Texts lists the texts of the configuration that a run was kept with.
func Texts(run *kasoku.Recording, o Options) *Document {
	r := viewOf(run, o)
	d := &Document{
		Kind: KindRun, Project: run.Run.Project, Name: r.name(), File: o.File, Footer: footer(o, run.Run.Version),
		Title: strings.TrimSpace(run.Run.Project + " " + r.name()), Head: summary{r}.head(), Verdict: textTable{r}.textsSaid(),
	}
	d.put(Options{}, "texts", func() Section { return textsSection(r) })
	return d
}

// textsSection lists the texts.
func textsSection(r rec) Section {
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

// textTable lists the texts of the configuration.
type textTable struct{ rec }

// textsSaid counts the texts by kind: "12 texts: 3 nginx, 8 schema, 1 git".
func (r textTable) textsSaid() string {
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
