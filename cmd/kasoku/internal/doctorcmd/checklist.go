package doctorcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/report"
)

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
	inShell     = observe.InShell
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

// weight is how much a check that is not well takes from a run: what is asked for and missing
// most, then what rules of weight look at, then by area; what lies in the host or in who
// records comes last.
func (c *check) weight() kasoku.Weight {
	switch {
	case c.State == checkOK:
		return kasoku.Lasting + 1
	case c.Asked && c.State == checkMissing:
		return kasoku.Spoiled
	}
	switch c.Area {
	case areaService, areaLoad:
		return kasoku.Blind
	case areaMySQL, areaLogs:
		if c.State == checkMissing || c.Name == "access log" {
			return kasoku.Blind
		}
	case areaRights, areaHost:
		return kasoku.Lasting
	}
	return kasoku.Partial
}

// A checklist gathers checks.
type checklist struct{ checks []check }

// ok adds a check that found nothing to mend.
func (l *checklist) ok(area, name, format string, args ...any) {
	l.add(check{Area: area, Name: name, State: checkOK, Seen: fmt.Sprintf(format, args...)})
}

// add adds a check. What has several causes names each: joined errors stand on a line each.
func (l *checklist) add(c check) {
	c.Seen = strings.ReplaceAll(c.Seen, "\n", "; ")
	if c.Grants == nil {
		c.Grants = []grant{}
	}
	l.checks = append(l.checks, c)
}

// cannot counts what is asked for and missing.
func (l *checklist) cannot() int {
	n := 0
	for _, c := range l.checks {
		if c.Asked && c.State == checkMissing {
			n++
		}
	}
	return n
}

// signs are how a state looks.
var signs = map[checkState]struct {
	sign string
	tone report.Tone
}{checkOK: {"✓", report.Good}, checkWarn: {"!", report.Mark}, checkMissing: {"✗", report.Bad}}

// unwell lists the checks that are not well, in the order of their weight, and names the
// others in a line.
func (l *checklist) unwell() []report.Section {
	bad, well := &checklist{}, []string(nil)
	for _, c := range l.checks {
		switch {
		case c.State != checkOK:
			bad.checks = append(bad.checks, c)
		case c.Area != areaService && !slices.Contains(well, c.Name):
			well = append(well, c.Name)
		}
	}
	out := bad.sections()
	drawn := func(c check) bool { return c.State == checkOK && c.Area == areaService && c.Name == membersCheck }
	if at := slices.IndexFunc(l.checks, drawn); at >= 0 {
		line := report.Para{Text: report.Prose(l.checks[at].Seen)}
		out = append([]report.Section{{ID: areaService, Title: areaService, Blocks: []report.Block{line}}}, out...)
	}
	if len(well) > 0 {
		out = append(out, report.Section{ID: "well", Title: "well", Blocks: []report.Block{
			report.Para{Text: report.Prose(strings.Join(well, ", ") + " (--all lists them)")}}})
	}
	return out
}

// sections lists the checks, one section an area.
func (l *checklist) sections() []report.Section {
	var out []report.Section
	for _, c := range l.checks {
		at := slices.IndexFunc(out, func(s report.Section) bool { return s.ID == c.Area })
		if at < 0 {
			at = len(out)
			out = append(out, report.Section{ID: c.Area, Title: c.Area, Blocks: []report.Block{&report.Notes{}}})
		}
		notes := out[at].Blocks[0].(*report.Notes)
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
func (l *checklist) table() report.Section {
	t := &report.Table{ID: "checks"}
	for _, key := range []string{"area", "check", "state", "asked", "seen", "lost", "cost", "grant"} {
		t.Columns = append(t.Columns, report.Column{Key: key, Head: key})
	}
	for _, c := range l.checks {
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

func (l *checklist) places() []place {
	var out []place
	seen := map[grant]bool{}
	for _, c := range l.checks {
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
	for i := range out {
		out[i].lines = joinCapabilities(out[i].lines)
	}
	return out
}

// joinCapabilities makes one of all lines that give capabilities to one file: setcap replaces those that the file
// has, so that of several the last alone would count.
func joinCapabilities(lines []string) []string {
	var out []string
	first := map[string]int{} // by file
	for _, line := range lines {
		capabilities, file, ok := splitSetcap(line)
		if !ok {
			out = append(out, line)
			continue
		}
		i, has := first[file]
		if !has {
			first[file] = len(out)
			out = append(out, line)
			continue
		}
		held, _, _ := splitSetcap(out[i])
		for _, c := range capabilities {
			if !slices.Contains(held, c) {
				held = append(held, c)
			}
		}
		out[i] = setcap + strings.Join(held, ",") + setcapAll + file
	}
	return out
}

const (
	setcap    = "setcap "
	setcapAll = "+ep "
)

// splitSetcap takes apart "setcap cap_bpf,cap_perfmon+ep FILE".
func splitSetcap(line string) (capabilities []string, file string, ok bool) {
	rest, ok := strings.CutPrefix(line, setcap)
	list, file, cut := strings.Cut(rest, setcapAll)
	return strings.Split(list, ","), file, ok && cut
}

// grantSections are the same lines for Markdown.
func (l *checklist) grantSections() []report.Section {
	var out []report.Section
	for _, p := range l.places() {
		s := report.Section{ID: "grants", Title: p.where}
		for _, line := range p.lines {
			s.Blocks = append(s.Blocks, report.Para{Text: report.Prose("`" + strings.ReplaceAll(line, "\n", "` `") + "`")})
		}
		out = append(out, s)
	}
	return out
}
