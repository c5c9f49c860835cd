package recording

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/machine"
	"github.com/kasoku/kasoku/report/recorded"
)

// A configRow is one setting with what it has to do with the run.
type configRow struct {
	name, value, from, why string
	refs                   []int
}

// configSection lists what findings quote, what kasoku changed, and limits that
// were more than half used.
func configSection(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionConfig, Title: "Configuration that mattered", Short: "Configuration"}
	rows := settingTable{r}.quoted()
	for _, c := range r.Changes {
		rows = append(rows, changeRow(c))
	}
	for _, l := range machine.Limits(r) {
		if l.Share > 0.5 && !slices.ContainsFunc(rows, func(c configRow) bool { return c.name == l.Name }) {
			rows = append(rows, configRow{name: l.Name, value: l.Limit, from: l.From,
				why: "headroom: " + l.Used + " used at most"})
		}
	}
	texts := textTable{r}.textsSaid()
	if texts != "" {
		texts += "; `kasoku show RUN --configs` lists them."
	}
	if len(rows) == 0 {
		if texts != "" {
			s.Blocks = []report.Block{report.Para{Text: report.Prose(texts)}}
		}
		return s
	}
	s.Sub = "What findings quote, what kasoku changed, and limits more than half used."
	if n := len(r.Settings); n > 0 {
		s.Sub += report.Prose(" The file holds all " + unit.Counted(n, "setting", "settings") + ".")
	}
	if texts != "" {
		s.Sub += report.Prose(" And " + texts)
	}
	t := &report.Table{ID: "config", Columns: []report.Column{
		{Key: "setting", Head: "setting", Code: true},
		{Key: "value", Head: "value", Cut: true},
		{Key: "from", Head: "from", Drop: 1},
		{Key: "why", Head: "why it matters"},
	}}
	for _, c := range rows {
		why := report.Cell{Text: c.why, Refs: c.refs}
		if len(c.refs) > 0 {
			why.Text = refText(c.refs)
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(c.name),
			cell.Text(cmp.Or(c.value, unit.Missing)), cell.Text(c.from),
			why}})
	}
	s.Blocks = []report.Block{t}
	return s
}

func refText(refs []int) string {
	var out []string
	for _, n := range refs {
		out = append(out, unit.Count(n))
	}
	if len(out) == 1 {
		return "finding " + out[0]
	}
	return "findings " + report.JoinWords(out)
}

func changeRow(c kasoku.Change) configRow {
	row := configRow{name: c.Name, value: c.During, from: "set by kasoku",
		why: "restored to " + cmp.Or(c.Before, unit.Missing)}
	if c.Restored && c.Note != "" { // nothing is to be restored
		row.why = c.Note
	}
	if !c.Restored {
		row.why = "not restored to " + cmp.Or(c.Before, unit.Missing)
		if c.Note != "" {
			row.why += ": " + c.Note
		}
	}
	return row
}

// word finds what may be the name of a setting: with an underscore or a dot, or
// in camel case, so that words of a sentence are not taken for one.
var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(?:[_.][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+`)

// settingTable finds the settings that had to do with the run.
type settingTable struct{ recorded.View }

// quoted lists the settings that findings name, in the order of the findings.
func (r settingTable) quoted() []configRow {
	if r.Diagnosis == nil {
		return nil
	}
	var rows []configRow
	put := func(c configRow, finding int) {
		for i := range rows {
			if rows[i].name == c.name {
				if !slices.Contains(rows[i].refs, finding) {
					rows[i].refs = append(rows[i].refs, finding)
				}
				return
			}
		}
		c.refs = []int{finding}
		rows = append(rows, c)
	}
	for i := range r.Diagnosis.Findings {
		f := &r.Diagnosis.Findings[i]
		for _, name := range word.FindAllString(settingText(f), -1) {
			if s, ok := r.setting(name); ok {
				put(configRow{name: s.Name, value: s.Value, from: machine.SourceOf(s.Scope)}, i+1)
			}
		}
		for _, e := range f.Evidence {
			name := word.FindString(e.Text)
			_, known := r.setting(name)
			if name != "" && !known && (e.Source == "dsn" || e.Source == "setting" || e.Source == "var") {
				put(configRow{name: name, value: e.Value, from: e.Source}, i+1)
			}
		}
	}
	return rows
}

// settingText is the text of a finding in which names of settings count.
func settingText(f *kasoku.Finding) string {
	var b strings.Builder
	b.WriteString(f.Title + "\n" + f.Cause)
	for _, e := range f.Evidence {
		b.WriteString("\n" + e.Text + " " + e.Note)
	}
	for _, x := range f.Fixes {
		b.WriteString("\n" + x.Code)
	}
	return b.String()
}

func (r settingTable) setting(name string) (kasoku.Setting, bool) {
	for _, s := range r.Settings {
		if s.Name == name {
			return s, true
		}
	}
	return kasoku.Setting{}, false
}
