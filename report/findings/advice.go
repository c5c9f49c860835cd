package findings

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/settings"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// SectionAdvice is what the checks of a database's settings say.
const SectionAdvice = "advice"

// AdviceSection shows what was advised on the settings of the run's database.
func AdviceSection(r recorded.View) report.Section {
	s := report.Section{ID: SectionAdvice, Title: "Advice", Count: len(r.Advice)}
	if len(r.Advice) == 0 {
		return s
	}
	s.Sub = report.Prose("On the settings of the database, the worst first. Nothing was changed. `" +
		strings.Replace("kasoku advise "+r.Name()+" --conf", "  ", " ",
			1) + "` prints only the lines for my.cnf, `--sql` those to set at once.")
	s.Blocks = []report.Block{adviceFindings(r.Advice)}
	return s
}

// adviceFindings show advice as findings are shown: with its figure and threshold, what to
// set, the lines to paste, and the price. Neighbours of one check and title are one,
// with several variables. Machines get it as a table.
func adviceFindings(all []kasoku.Advice) *report.Findings {
	f := &report.Findings{Table: AdviceTable(all)}
	hosts := slices.ContainsFunc(all, func(a kasoku.Advice) bool { return a.Host != all[0].Host })
	for i := 0; i < len(all); {
		n := i + 1
		for n < len(all) && all[n].ID == all[i].ID && all[n].Title == all[i].Title && all[n].Host == all[i].Host {
			n++
		}
		f.List = append(f.List, advised(len(f.List)+1, all[i:n], hosts))
		i = n
	}
	return f
}

// advised words the advice of one check.
func advised(number int, same []kasoku.Advice, hosts bool) report.Finding {
	a := &same[0]
	f := report.Finding{
		Number: number, Anchor: "a" + strconv.Itoa(number), ID: a.ID, Title: a.Title,
		Confidence: confidence(a.Confidence),
		Expect:     report.FullSentence(a.Gain), Open: number <= openFindings,
	}
	if hosts {
		f.Object = a.Host
	}
	window := a.Window
	if window == settings.Now {
		window = ""
	}
	if a.Formula != "" || a.Measured != "" {
		f.Evidence = append(f.Evidence, report.Evidence{Source: a.Area, Text: a.Formula, Note: window,
			Value:  a.Measured,
			Strong: true})
	}
	if a.Threshold != "" {
		f.Evidence = append(f.Evidence, report.Evidence{Source: "threshold", Value: a.Threshold})
	}
	risks := settings.Risks()
	for i := range same {
		f.Fixes = append(f.Fixes, adviceFixes(&same[i])...)
		if x := string(same[i].Risk); same[i].Variable != "" &&
			(f.Risk == "" || slices.Index(risks, same[i].Risk) > slices.Index(risks, kasoku.Risk(f.Risk))) {
			f.Risk, f.Risky = x, same[i].Risk == kasoku.RiskDurability || same[i].Risk == kasoku.RiskSemantics
		}
	}
	return f
}

// adviceFixes describe what to set, at once and for good.
func adviceFixes(a *kasoku.Advice) []report.Fix {
	var out []report.Fix
	if a.SetGlobal != "" {
		out = append(out, report.Fix{Where: "now, until the next restart", Code: codeLines(a.SetGlobal), Lang: "sql"})
	}
	if a.ConfLine != "" {
		out = append(out, report.Fix{Where: "my.cnf, below [mysqld]", Code: codeLines(a.ConfLine), Lang: "ini"})
	}
	var notes []string
	if a.Price != "" {
		notes = append(notes, string(report.FullSentence("price: "+a.Price)))
	}
	if note := string(report.FullSentence(a.Note)); note != "" {
		notes = append(notes, note)
	}
	switch {
	case len(out) == 0 && len(notes) == 0 && a.Variable == "":
		return nil
	case len(out) == 0:
		out = []report.Fix{{}}
	}
	if a.Variable != "" {
		out[0].Text = report.Prose("`" + a.Variable + "`: " + AdvisedValue(a.Variable,
			a.Value) + " → " + AdvisedValue(a.Variable, a.Proposed))
	}
	out[len(out)-1].Note = report.Prose(strings.Join(notes, " "))
	return out
}

// AdvisedValue prints a value of a variable, a size with its unit.
func AdvisedValue(variable, value string) string {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil || !settings.IsSize(variable) {
		return value
	}
	return unit.BytesIEC(n)
}

// AdviceTable has all of the advice, as it is, for machines.
func AdviceTable(all []kasoku.Advice) *report.Table {
	t := &report.Table{ID: "advice"}
	for _, key := range []string{"host", "id", "area", "title", "variable", "value", "proposed", "measured", "formula",
		"threshold", "window", "confidence", "risk", "set_global", "conf_line", "gain", "price", "note"} {
		t.Columns = append(t.Columns, report.Column{Key: key, Head: strings.ReplaceAll(key, "_", " ")})
	}
	for i := range all {
		a := &all[i]
		var cells []report.Cell
		for _, s := range []string{a.Host, a.ID, a.Area, a.Title, a.Variable, a.Value, a.Proposed, a.Measured,
			a.Formula, a.Threshold, a.Window, string(a.Confidence.Level), string(a.Risk), a.SetGlobal, a.ConfLine,
			a.Gain, a.Price, strings.TrimSpace(a.Note)} {
			cells = append(cells, cell.Text(s))
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	return t
}
