package recording

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// Texts lists the texts of the configuration that a run was kept with.
func Texts(run *kasoku.Recording, o report.Options) *report.Document {
	r := recorded.Of(run, o)
	d := &report.Document{
		Kind: report.KindRun, Project: run.Run.Project, Name: r.Name(), File: o.File, Footer: report.FooterOf(o,
			run.Run.Version),
		Title: strings.TrimSpace(run.Run.Project + " " +
			r.Name()), Head: summary{r}.head(), Verdict: textTable{r}.textsSaid(),
	}
	d.PutSection(report.Options{}, "texts", func() report.Section { return textsSection(r) })
	return d
}

// textsSection lists the texts.
func textsSection(r recorded.View) report.Section {
	run := r.Recording
	s := report.Section{ID: report.SectionConfig, Title: "Configuration in force", Short: "Configuration",
		Count: len(run.Configs)}
	s.Sub = "`kasoku show RUN --config-text NAME` prints one text. Secrets are masked."
	if len(run.Configs) == 0 {
		s.Blocks = []report.Block{report.Para{Text: "The run keeps no texts of the configuration."}}
		return s
	}
	t := &report.Table{ID: "texts", Columns: []report.Column{
		{Key: "kind", Head: "kind"},
		{Key: "name", Head: "name", Code: true, Cut: true},
		{Key: "bytes", Head: "bytes", Align: report.Right},
		{Key: "masked", Head: "masked", Align: report.Right, Drop: 1},
		{Key: "mode", Head: "mode", Drop: 2},
		{Key: "note", Head: "note"},
	}}
	for _, c := range run.Configs {
		name, mode := c.Name, cell.None()
		if len(run.Run.Hosts) > 1 && c.Host != "" {
			name = c.Host + " " + name
		}
		if c.Mode != 0 {
			mode = cell.Text(fmt.Sprintf("%04o", c.Mode&0o777))
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(c.Kind), cell.Text(name),
			cell.Count(uint64(len(c.Text))), cell.Count(uint64(c.Masked)), mode, cell.Text(c.Note)}})
	}
	s.Blocks = []report.Block{t}
	return s
}

// textTable lists the texts of the configuration.
type textTable struct{ recorded.View }

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
	return unit.Counted(len(r.Configs), "text", "texts") + " of the configuration: " + report.JoinWords(kinds)
}
