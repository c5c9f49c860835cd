package profiles

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// MovedSection shows the functions whose share of a program grew or shrank.
func MovedSection(c *compare.Comparison) report.Section {
	s := report.Section{ID: SectionProfiles, Title: "Profiles", Short: "Profiles", Count: len(c.Matched.Profiles)}
	if len(c.Matched.Profiles) == 0 {
		return s
	}
	s.Sub = "Each function's own share of its program, before and after: a function whose share grew may use as " +
		"much as before, beside less of the others; what it used in each second shows that. Of CPU, what two samplings of the same thing differ by in 19 of 20 cases is left out."
	if c.Single() {
		s.Sub += " One run a side: what two runs of the same thing differ by is not known, so nothing here is judged."
	} else {
		s.Sub += " The profiles of each side's runs are added up; they are not judged run by run."
	}
	still := &report.Notes{}
	for i := range c.Matched.Profiles {
		p := &c.Matched.Profiles[i]
		shown := slices.DeleteFunc(slices.Clone(p.Functions), func(m profile.Moved) bool { return !p.Shown(m) })
		title := p.Program + ", " + lowerFirst(profileWords[p.Kind].title) + ": " + profileSides(p)
		if len(shown) == 0 {
			still.List = append(still.List, report.Note{Sign: "·", Tone: report.Dim, Label: string(p.Kind),
				Text: title + ". No function's share is shown to move by a point."})
			continue
		}
		s.Blocks = append(s.Blocks, profileMovedTable(p, shown, title))
		if f := movedFlame(p, fmt.Sprintf("stacks_%d", i+1)); f != nil {
			s.Blocks = append(s.Blocks, f)
		}
	}
	if len(still.List) > 0 {
		s.Blocks = append(s.Blocks, still)
	}
	return s
}

// lowerFirst begins a title with a small letter where it is no abbreviation.
func lowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && (s[1] < 'A' || s[1] > 'Z') {
		return string(s[0]+'a'-'A') + s[1:]
	}
	return s
}

// profileSides gives both wholes, each by its time where it has one.
func profileSides(p *compare.ProfileChange) string {
	side := func(total int64, over time.Duration, runs int) string {
		one := &kasoku.Profile{Unit: p.Unit}
		switch sec := over.Seconds(); {
		case p.Kind == kasoku.ProfileCPU && sec > 0:
			return unit.Sig3(time.Duration(total).Seconds()/sec) + " cores"
		case p.Kind == kasoku.ProfileAllocs && sec > 0:
			return unit.Bytes(uint64(float64(total)/sec)) + "/s"
		case (p.Kind == kasoku.ProfileMutex || p.Kind == kasoku.ProfileBlock || p.Kind == kasoku.ProfileWaiting) && sec > 0:
			return unit.Duration(time.Duration(float64(total)/sec)) + " a second"
		}
		return profileValue(one, total/int64(max(runs, 1)))
	}
	before, after := side(p.Before, p.BeforeTime, p.BeforeRuns), side(p.After, p.AfterTime, p.AfterRuns)
	if number, _, ok := strings.Cut(before, " "); ok && strings.TrimPrefix(before,
		number) == after[max(0, strings.IndexByte(after, ' ')):] {
		before = number // one unit for both
	}
	return before + " → " + after
}

func profileMovedTable(p *compare.ProfileChange, shown []profile.Moved, title string) *report.Table {
	t := &report.Table{ID: "profile_" + string(p.Kind), Title: title, Columns: []report.Column{
		{Key: "function", Head: "function", Code: true, Cut: true, Middle: true, Least: 24},
		{Key: "before_ratio", Head: "before", Unit: "% flat", Align: report.Decimal},
		{Key: "after_ratio", Head: "after", Unit: "% flat", Align: report.Decimal},
		{Key: "moved_ratio", Head: "moved", Unit: "points", Align: report.Decimal},
	}}
	name, key, scale := profilePerSecond(p)
	if scale > 0 {
		t.Columns = append(t.Columns,
			report.Column{Key: "before_" + key, Head: "before", Unit: name, Align: report.Decimal, Drop: 2},
			report.Column{Key: "after_" + key, Head: "after", Unit: name, Align: report.Decimal, Drop: 2})
	}
	for _, m := range shown[:min(mostFunctions, len(shown))] {
		cells := []report.Cell{cell.Text(m.Name), cell.Percent(m.BeforeFlat), cell.Percent(m.AfterFlat),
			{Text: signedPoints(m.Points()), Raw: report.RawNumber(m.Points())}}
		if scale > 0 {
			cells = append(cells, cell.Number(m.BeforeFlat*profileRate(p.Before, p.BeforeTime)*scale),
				cell.Number(m.AfterFlat*profileRate(p.After, p.AfterTime)*scale))
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells})
	}
	if n := len(shown) - mostFunctions; n > 0 {
		t.More = unit.Count(n) + " more that moved less"
	}
	return t
}

// profilePerSecond returns in what unit a profile is given for each second, with the key of
// its columns; scale 0 where that says nothing.
func profilePerSecond(p *compare.ProfileChange) (name, key string, scale float64) {
	if p.BeforeTime <= 0 || p.AfterTime <= 0 {
		return "", "", 0
	}
	switch p.Kind {
	case kasoku.ProfileCPU, kasoku.ProfileMutex, kasoku.ProfileBlock, kasoku.ProfileWaiting:
		return "ms/s", "ms_per_s", 1e-6
	case kasoku.ProfileAllocs:
		return "kB/s", "kilobytes_per_s", 1e-3
	}
	return "", "", 0
}

// profileRate returns a whole for each second of its time.
func profileRate(total int64, over time.Duration) float64 { return float64(total) / over.Seconds() }

// signedPoints prints a difference of shares in points, always with its sign.
func signedPoints(points float64) string {
	s := fmt.Sprintf("%.1f", 100*points)
	if points < 0 {
		return "\u2212" + s[1:]
	}
	return "+" + s
}
