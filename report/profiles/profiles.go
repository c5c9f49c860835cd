package profiles

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/recorded"
)

// SectionProfiles is where in their code programs spent something.
const SectionProfiles = "profiles"

// mostFunctions is how many functions of a profile are listed at most.
const mostFunctions = 10

// listed is how many of a kind are.
func listed(kind kasoku.ProfileKind) int {
	if kind == kasoku.ProfileCPU || kind == kasoku.ProfileAllocs {
		return mostFunctions
	}
	return mostFunctions / 2
}

// profileWords are the words for what profiles of a kind count.
var profileWords = map[kasoku.ProfileKind]struct{ title, stacks string }{
	kasoku.ProfileCPU:       {"CPU time", "Stacks of CPU time"},
	kasoku.ProfileWaiting:   {"Waiting, of threads and goroutines", "Stacks that waited, by reason"},
	kasoku.ProfileAllocs:    {"Memory allocated", "Stacks of allocations"},
	kasoku.ProfileHeap:      {"Memory in use at the end", "Stacks of memory in use"},
	kasoku.ProfileMutex:     {"Waiting for others that hold a lock", "Stacks that held locks"},
	kasoku.ProfileBlock:     {"Waiting for channels, locks and other goroutines", "Stacks that waited"},
	kasoku.ProfileGoroutine: {"Goroutines at the end", "Stacks of goroutines"},
}

// Section shows the functions that used most, and their stacks.
func Section(r recorded.View) report.Section {
	s := report.Section{ID: SectionProfiles, Title: "Profiles", Short: "Profiles", Count: len(r.Profiles)}
	if len(r.Profiles) == 0 {
		return s
	}
	s.Sub = profileTables{r}.profilesFrom()
	n := &report.Notes{}
	programs, several := map[string]int{}, len(profileTables{r}.programs()) > 1
	for i := range r.Profiles {
		p := &r.Profiles[i]
		place := programs[p.Address]
		if place == 0 {
			place = len(programs) + 1
			programs[p.Address] = place
		}
		id := "profile_" + string(p.Kind)
		if place > 1 {
			id += "_" + strconv.Itoa(place)
		}
		if p.Note != "" {
			n.List = append(n.List, report.Note{Sign: "·", Tone: report.Dim, Label: string(p.Kind),
				Text: report.Sentence(strings.ReplaceAll(p.Note, "`", "")) + "."})
		}
		if p.Total == 0 {
			if p.Note == "" {
				n.List = append(n.List, report.Note{Sign: "·", Tone: report.Dim, Label: string(p.Kind),
					Text: "Nothing was sampled in that time."})
			}
			continue
		}
		if p.Kind == kasoku.ProfileWaiting {
			s.Blocks = append(s.Blocks, reasonTable(p, id+"_reasons", several))
		}
		s.Blocks = append(s.Blocks, profileTable(p, id, several))
		if f := flame(p, id, profileWords[p.Kind].stacks); f != nil {
			f.Open = p.Kind == kasoku.ProfileCPU
			s.Blocks = append(s.Blocks, f)
		}
	}
	if len(n.List) > 0 {
		s.Blocks = append(s.Blocks, n)
	}
	return s
}

// Tables shows profiles that are of no run: the functions of each that took most, and of
// waits their reasons.
func Tables(all []kasoku.Profile) []report.Block {
	var out []report.Block
	for i := range all {
		p := &all[i]
		id := "profile_" + string(p.Kind)
		if i > 0 {
			id += "_" + strconv.Itoa(i+1)
		}
		if p.Kind == kasoku.ProfileWaiting {
			out = append(out, reasonTable(p, id+"_reasons", true))
		}
		out = append(out, profileTable(p, id, true))
		if f := flame(p, id, profileWords[p.Kind].stacks); f != nil {
			f.Open = true
			out = append(out, f)
		}
	}
	return out
}

// reasonTable lists what a program waited for.
func reasonTable(p *kasoku.Profile, id string, several bool) *report.Table {
	list := profile.Reasons(p)
	key, name, in := profileUnit(p, list)
	t := &report.Table{ID: id, Title: profileWords[p.Kind].title + ", " + profileTotal(p), Columns: []report.Column{
		{Key: "reason", Head: "reason", Cut: true, Least: 24},
		{Key: "share_ratio", Head: "share", Unit: "%", Align: report.Decimal},
		{Key: "waited_" + key, Head: "waited", Unit: name, Align: report.Decimal},
	}}
	if several {
		t.Title = programName(p) + ": " + t.Title
	}
	for _, f := range list[:min(len(list), 2*mostFunctions)] {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(f.Name), cell.Percent(p.Share(f.Cum)), in(f.Cum)}})
	}
	if n := len(list) - 2*mostFunctions; n > 0 {
		t.More = unit.Count(n) + " more reasons"
	}
	return t
}

// profileTables shows where programs spent something.
type profileTables struct{ recorded.View }

// programs names the programs of which there are profiles.
func (r profileTables) programs() []string {
	var out []string
	seen := map[string]bool{}
	for i := range r.Profiles {
		if p := &r.Profiles[i]; !seen[p.Address] {
			seen[p.Address] = true
			out = append(out, programName(p))
		}
	}
	return out
}

func programName(p *kasoku.Profile) string { return cmp.Or(p.Program, p.Address) }

// profilesFrom says of what, when and at what price they were taken.
func (r profileTables) profilesFrom() report.Prose {
	p := &r.Profiles[0]
	if !slices.ContainsFunc(r.Profiles, func(p kasoku.Profile) bool { return !strings.HasPrefix(p.Address, "pid ") }) {
		return report.Prose(fmt.Sprintf("Of %s, from outside, from %s to %s s of the run. **Flat** is in the function itself, **cum** "+
			"with all that it calls; of waits, flat is in the function that waits, and their outermost frame is the reason.",
			strings.Join(r.programs(), " and "), unit.Fixed(p.Interval.From.Seconds(), 1), unit.Fixed(p.Interval.To.Seconds(), 1)))
	}
	return report.Prose(fmt.Sprintf("Of %s, from %s to %s s of the run. **Flat** is in the function itself, **cum** "+
		"with all that it calls; of waits, flat is in the function that waits. What profiling itself used is left out, but it cost: sampling CPU stops a program 100 times for each second of CPU that it uses, which took a few percent more CPU in our tests.",
		strings.Join(r.programs(), " and "), unit.Fixed(p.Interval.From.Seconds(), 1),
		unit.Fixed(p.Interval.To.Seconds(), 1)))
}

// profileTable lists the functions that used most themselves.
func profileTable(p *kasoku.Profile, id string, several bool) *report.Table {
	t := &report.Table{ID: id, Title: profileWords[p.Kind].title + ", " + profileTotal(p)}
	if several {
		t.Title = programName(p) + ": " + t.Title
	}
	list := p.Functions[:min(listed(p.Kind), len(p.Functions))]
	key, name, in := profileUnit(p, append(ownCode(p), list...))
	t.Columns = []report.Column{
		{Key: "function", Head: "function", Code: true, Cut: true, Middle: true, Least: 24},
		{Key: "flat_ratio", Head: "flat", Unit: "%", Align: report.Decimal},
		{Key: "flat_" + key, Head: "flat", Unit: name, Align: report.Decimal, Drop: 2},
		{Key: "cum_ratio", Head: "cum", Unit: "%", Align: report.Decimal},
		{Key: "cum_" + key, Head: "cum", Unit: name, Align: report.Decimal, Drop: 2},
		{Key: "place", Head: "begins at", Code: true, Drop: report.DropExtra},
	}
	add := func(f kasoku.ProfileFunction) {
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(f.Name), cell.Percent(p.Share(f.Flat)), in(f.Flat),
			cell.Percent(p.Share(f.Cum)), in(f.Cum), cell.Text(placeOf(f))}})
	}
	var shown int64
	for _, f := range list {
		shown += f.Flat
		add(f)
	}
	if own := ownCode(p); len(own) > 0 {
		t.Rows = append(t.Rows, report.Row{Group: "own code, with what it calls"})
		for _, f := range own {
			add(f)
		}
	}
	if n := len(p.Functions) - len(list); n > 0 {
		t.More = "In functions themselves: " + report.LeftOut(n, p.Share(max(p.Total-shown, 0)), "the whole")
	}
	return t
}

// ownCode are the functions of the program's own code that used most with what they
// call, where little of them is among the foremost by themselves: of most services
// the library and the runtime do the work that own code asks for.
func ownCode(p *kasoku.Profile) []kasoku.ProfileFunction {
	const most = 5
	var own []kasoku.ProfileFunction
	for i, f := range p.Functions {
		if profile.ClassOf(f.Name, f.File) != profile.Own || p.Share(f.Cum) < 0.02 || i < listed(p.Kind) &&
			f.Flat == f.Cum {
			continue
		}
		own = append(own, f)
	}
	slices.SortStableFunc(own, func(a, b kasoku.ProfileFunction) int { return cmp.Compare(b.Cum, a.Cum) })
	return own[:min(most, len(own))]
}

// placeOf is where a function begins: main.go:12, empty when it is not known.
func placeOf(f kasoku.ProfileFunction) string {
	if f.File == "" {
		return ""
	}
	file := f.File[strings.LastIndexByte(f.File, '/')+1:]
	if f.Line > 0 {
		file += ":" + strconv.Itoa(f.Line)
	}
	return file
}

// profileTotal gives the whole, and what it is of the time that it was taken over.
func profileTotal(p *kasoku.Profile) string {
	s := profileValue(p, p.Total)
	sec := p.Interval.Len().Seconds()
	if sec <= 0 {
		return s
	}
	over := " in " + unit.Fixed(sec, 1) + " s"
	switch p.Kind {
	case kasoku.ProfileCPU:
		return s + over + ": " + unit.Sig3(time.Duration(p.Total).Seconds()/sec) + " cores"
	case kasoku.ProfileAllocs:
		return s + over + ": " + unit.Bytes(uint64(float64(p.Total)/sec)) + "/s"
	case kasoku.ProfileWaiting:
		return s + over + ", of all threads together"
	case kasoku.ProfileMutex, kasoku.ProfileBlock:
		return s + over + ", of all goroutines together"
	}
	return s
}

// profileValue prints a value of a profile with its unit.
func profileValue(p *kasoku.Profile, v int64) string {
	switch p.Unit {
	case "nanoseconds":
		if v >= int64(time.Second) {
			return unit.Sig3(time.Duration(v).Seconds()) + " s"
		}
		return unit.Duration(time.Duration(v))
	case "bytes":
		return unit.Bytes(uint64(max(v, 0)))
	}
	return unit.Count(v)
}

// profileUnit returns how a column of values of a profile is keyed and headed, and
// how its cells are printed, in one unit.
func profileUnit(p *kasoku.Profile, list []kasoku.ProfileFunction) (key, name string, in func(int64) report.Cell) {
	switch p.Unit {
	case "nanoseconds":
		var ds []time.Duration
		for _, f := range list {
			ds = append(ds, time.Duration(f.Cum))
		}
		u := cell.CommonUnit(ds...)
		return "s", unit.Name(u), func(v int64) report.Cell { return cell.Duration(time.Duration(v), u) }
	case "bytes":
		var most int64
		for _, f := range list {
			most = max(most, f.Cum)
		}
		scale, name := 1.0, "B"
		for _, u := range []string{"kB", "MB", "GB", "TB"} {
			if float64(most)/scale < 1000 {
				break
			}
			scale, name = scale*1000, u
		}
		return "bytes", name, func(v int64) report.Cell {
			return report.Cell{Text: unit.Sig3(float64(v) / scale),
				Raw: report.RawNumber(float64(v))}
		}
	}
	return "count", p.Unit, func(v int64) report.Cell { return cell.Count(uint64(max(v, 0))) }
}
