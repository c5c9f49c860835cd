package findings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/machine"
	"github.com/kasoku/kasoku/report/recorded"
)

// openFindings is how many findings a page shows unfolded: the first has the
// cause, the second mostly its limit.
const openFindings = 2

// Section shows the findings of a run, and the rules that could not look.
// Without a diagnosis it names the command that makes one.
func Section(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionFindings, Title: "Findings"}
	d := r.Diagnosis
	if d == nil {
		s.Blocks = []report.Block{report.Para{Text: report.Prose(strings.Replace("Not diagnosed. `kasoku diagnose "+r.Name()+"` looks at it.", " `kasoku diagnose ` looks at it.", "", 1))}}
		return s
	}
	f := &report.Findings{}
	for i := range d.Findings {
		f.List = append(f.List, diagnosed{r}.finding(i, d.Findings))
	}
	s.Count = len(f.List)
	s.Blocks = []report.Block{f}
	if s.Count == 0 {
		f.Empty = diagnosed{r}.noFinding()
	} else {
		s.Sub = diagnosed{r}.findingsSub(f)
	}
	if lost := lostRules(d); len(lost) > 0 {
		s.Blocks = append(s.Blocks, &report.Notes{List: lost})
	}
	return s
}

// lostRules are the rules that could not look because of a bug of kasoku.
func lostRules(d *kasoku.Diagnosis) (out []report.Note) {
	for _, x := range d.Silences {
		if x.Lost() {
			out = append(out, report.Note{Sign: "!", Tone: report.Mark, Label: x.ID, Code: true,
				Text: "This rule could not look: " + x.Reason})
		}
	}
	return out
}

// diagnosed words the findings of a run.
type diagnosed struct{ recorded.View }

func (r diagnosed) findingsSub(f *report.Findings) report.Prose {
	d := r.Diagnosis
	s := "In the order in which to fix them. "
	if of := f.List[0].ImpactOf; of != "" {
		s += "Impact is the share " + d.Findings[0].Impact.Of + ", unless it says otherwise"
		if x := sharers(d.Findings); x != "" {
			s += "; " + x + " explain the same, so they do not add up"
		}
		s += ". "
	}
	if d.Rules > 0 {
		s += unit.Counted(d.Rules, "rule", "rules") + " looked, " + unit.Count(spoke(d)) +
			" spoke; `kasoku diagnose " + r.Name() + " --why-not ID` says why another stayed silent."
	}
	return report.Prose(strings.TrimSpace(s))
}

// spoke counts the rules that gave a finding.
func spoke(d *kasoku.Diagnosis) int {
	ids := map[string]bool{}
	for i := range d.Findings {
		ids[d.Findings[i].ID] = true
	}
	return len(ids)
}

// sharers lists the numbers of the findings whose shares overlap.
func sharers(fs []kasoku.Finding) string {
	var out []string
	for i := range fs {
		if len(fs[i].Impact.Shared) > 0 {
			out = append(out, unit.Count(i+1))
		}
	}
	if len(out) < 2 {
		return ""
	}
	return report.JoinWords(out)
}

// Key is what a finding is known by in other runs: its rule and its object.
func Key(x *kasoku.Finding) string { return x.ID + " " + x.Object.String() }

func (r diagnosed) finding(i int, all []kasoku.Finding) report.Finding {
	x := &all[i]
	f := report.Finding{
		Number: i + 1, Anchor: "f" + strconv.Itoa(i+1), ID: x.ID, Key: Key(x), Title: x.Title, Info: x.Severity == kasoku.Info,
		Share: min(max(x.Impact.Share, 0), 1), Estimate: x.Impact.Estimate,
		Requests: strings.Contains(x.Impact.Of, "requests"),
		Risk:     string(x.Risk()), Risky: x.Risk() == kasoku.RiskDurability || x.Risk() == kasoku.RiskSemantics,
		Confidence: confidence(x.Confidence), Cause: report.FullSentence(x.Cause), Expect: report.FullSentence(x.Expect), Verify: report.FullSentence(x.Verify),
		Open: i < openFindings && x.Severity != kasoku.Info,
	}
	if x.Object.Name != "" {
		f.Object = x.Object.String()
	}
	if len(x.Fixes) == 0 {
		f.Risk = ""
	}
	switch {
	case x.Impact.Share > 0:
		f.Impact = unit.Percent(x.Impact.Share)
		f.ImpactOf = impactOf(i, all)
		f.Shared = strings.HasPrefix(f.ImpactOf, "shared")
	case x.Severity != kasoku.Info && x.Impact.Of != "":
		f.Impact, f.ImpactOf = unit.Missing, x.Impact.Of // it could not be measured
	}
	f.Explained = explainedBy(i, all)
	for _, e := range x.Evidence {
		f.Evidence = append(f.Evidence, report.Evidence{Source: e.Source, Text: e.Text, Note: e.Note, Value: e.Value,
			Strong: e.Strong})
	}
	for _, y := range x.Fixes {
		f.Fixes = append(f.Fixes, report.Fix{Text: report.FullSentence(y.Text), Where: y.Where,
			Code: codeLines(y.Code), Note: report.FullSentence(y.Note), Lang: y.Lang, Risk: string(y.Risk)})
	}
	return f
}

// explainedBy names the first finding that makes this one go when it is fixed; of two that
// explain each other the earlier one does. A remark explains nothing that costs something.
func explainedBy(i int, all []kasoku.Finding) string {
	for k := range all {
		if k > i && slices.Contains(all[i].Explains, all[k].ID) ||
			all[k].Severity == kasoku.Info && all[i].Severity != kasoku.Info {
			continue
		}
		if all[k].ID != all[i].ID && slices.Contains(all[k].Explains, all[i].ID) {
			return "by " + unit.Count(k+1) + ", " + all[k].ID
		}
	}
	return ""
}

// impactOf says of what an impact is a share: of an earlier finding's, when it is
// the same share; in short, when it is the first finding's whole.
func impactOf(i int, all []kasoku.Finding) string {
	x := all[i].Impact
	for k := range all[:i] {
		if slices.Contains(x.Shared, all[k].ID) {
			return "shared with " + unit.Count(k+1)
		}
	}
	of := x.Of
	if of == all[0].Impact.Of {
		of, _, _ = strings.Cut(of, " at ")
	}
	if x.Estimate {
		of += ", estimate"
	}
	return of
}

func confidence(c kasoku.Confidence) string {
	if c.Level == "" {
		return ""
	}
	s := "confidence " + string(c.Level)
	if c.Of > 0 {
		s += ", " + unit.Count(c.Holds) + " of " + unit.Counted(c.Of, "signal", "signals")
	}
	if c.Note != "" {
		s += "; " + c.Note
	}
	return s
}

// codeLines splits code that can be pasted. Lines that begin with + or - are a
// diff when any of them does.
func codeLines(code string) []report.CodeLine {
	if strings.TrimSpace(code) == "" {
		return nil
	}
	var out []report.CodeLine
	for _, l := range strings.Split(strings.TrimRight(code, "\n"), "\n") {
		c := report.CodeLine{Sign: ' ', Text: strings.ReplaceAll(l, "\t", "    ")}
		if strings.HasPrefix(l, "+ ") || strings.HasPrefix(l, "- ") || l == "+" || l == "-" {
			c.Sign = l[0]
		}
		out = append(out, c)
	}
	return out
}

// noFinding describes what there is to say when no rule spoke: which rule was nearest
// to it, and which resource nearest to its limit.
func (r diagnosed) noFinding() []report.Prose {
	d := r.Diagnosis
	out := []report.Prose{report.Prose("No finding. " + unit.Counted(d.Rules, "rule", "rules") + " looked at " +
		r.Lasted() + "; none spoke.")}
	var near []kasoku.Silence
	blind := 0
	for _, s := range d.Silences {
		if s.Blind {
			blind++
		} else if s.Near > 0 {
			near = append(near, s)
		}
	}
	slices.SortStableFunc(near, func(a, b kasoku.Silence) int { return cmp.Compare(b.Near, a.Near) })
	if len(near) > 0 {
		out = append(out, report.Prose("Nearest to speaking: "+near[0].ID+", "+near[0].Reason+"."))
	}
	if h := machine.Headroom(r.View); h != "" {
		out = append(out, report.Prose("Nearest to its limit: "+h+"."))
	}
	if blind > 0 {
		out = append(out, report.Prose(unit.Counted(blind, "rule",
			"rules")+" could not look, for want of what they read; `kasoku diagnose "+r.Name()+" --why-not ID` says what."))
	}
	return out
}
