package report

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/report/internal/sample"
)

func show(r *kasoku.Recording) *Document {
	return Show(r, Options{Location: sample.JST})
}

func TestShowSections(t *testing.T) {
	ids := func(d *Document) string {
		var out []string
		for _, s := range d.Sections {
			out = append(out, s.ID)
		}
		return strings.Join(out, " ")
	}
	for _, x := range []struct {
		name string
		d    *Document
		want string
	}{
		{"all", show(sample.Before()), "findings time steps endpoints queries messages config warnings cost"},
		{"some", Show(sample.Before(), Options{Sections: []string{SectionQueries, SectionTimeline}}), "time queries"},
		{"command", show(sample.Command()), "findings time command config"},
		{"nothing", show(&kasoku.Recording{}), "findings"},
	} {
		if got := ids(x.d); got != x.want {
			t.Errorf("%s: sections %q, want %q", x.name, got, x.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, x := range []struct {
		name string
		r    *kasoku.Recording
		want string
	}{
		{"diagnosed", sample.Before(), "At 1,000 req/s only 30.5 % of requests succeed: the app opens a database connection per request and MariaDB refuses all beyond 151."},
		{"not diagnosed", sample.Stopped(), "44.5 % of 6,100 requests succeeded. The run was not diagnosed."},
		{"command", sample.Command(), "The command took 9.10 s and exited with code 1."},
		{"signal", &kasoku.Recording{Run: kasoku.Run{Command: &kasoku.Command{Signal: "KILL", ExitCode: -1, Wall: 70 * time.Second}}}, "The command took 1 min 10 s and was ended by signal KILL."},
		{"neither", &kasoku.Recording{Run: kasoku.Run{Length: 30 * time.Second}}, "A recording of 30 s without a load of kasoku's."},
	} {
		if got := show(x.r).Verdict; got != x.want {
			t.Errorf("%s: verdict %q, want %q", x.name, got, x.want)
		}
	}
}

func TestAlerts(t *testing.T) {
	texts := func(r *kasoku.Recording) []string {
		var out []string
		for _, a := range show(r).Alerts {
			out = append(out, a.Text)
		}
		return out
	}
	got := strings.Join(texts(sample.Stopped()), "|")
	want := "Stopped at 33 s of 38 s by interrupt. All that was measured is kept.|The generator was late: send delay p99 40 ms, max 210 ms, of a latency p50 of 331 ms"
	if got != want {
		t.Errorf("alerts %q, want %q", got, want)
	}
	running := sample.Before()
	running.Run.State, running.Run.Length = kasoku.Running, 0
	running.Damage = []string{"chunk 3 of host"}
	got = strings.Join(texts(running), "|")
	want = "Still running: 42 s recorded so far.|The run file is damaged: chunk 3 of host"
	if got != want {
		t.Errorf("alerts %q, want %q", got, want)
	}
	if len(texts(sample.Before())) != 0 {
		t.Error("a run that went well has alerts")
	}
}

func TestFindingsShareTheirImpact(t *testing.T) {
	f := show(sample.Before()).Section(SectionFindings).Blocks[0].(*Findings)
	var got []string
	for _, x := range f.List {
		got = append(got, x.Impact+" "+x.ImpactOf)
	}
	want := "69.5 % of requests|66.1 % shared with 1|8.5 % of latency at 100 req/s, estimate|22.2 % of latency at 100 req/s"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("impacts %q, want %q", s, want)
	}
	if !f.List[0].Open || !f.List[1].Open || f.List[2].Open {
		t.Error("the first two findings are unfolded, the others are not")
	}
	if !f.List[3].Risky || f.List[0].Risky {
		t.Error("a risk to durability is marked, an app restart is not")
	}
}

func TestNoFinding(t *testing.T) {
	f := show(sample.Quiet()).Section(SectionFindings).Blocks[0].(*Findings)
	var all string
	for _, s := range f.Empty {
		all += string(s) + "\n"
	}
	for _, want := range []string{
		"No finding. 75 rules looked at 42 s; none spoke.", "Nearest to speaking: POOL-02, 101 of 300", "Nearest to its limit: CPU, 1.13 cores of 2 cores", "1 rule could not look",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("said\n%s, want %q in it", all, want)
		}
	}
}

func TestConfigurationThatMattered(t *testing.T) {
	table := show(sample.Before()).Section(SectionConfig).Blocks[0].(*Table)
	rows := map[string]string{}
	for _, r := range table.Rows {
		rows[r.Cells[0].Text] = r.Cells[1].Text + ", " + r.Cells[3].Text
	}
	for name, want := range map[string]string{
		"max_connections":                "151, finding 2",
		"innodb_flush_log_at_trx_commit": "1, finding 4",
		"interpolateParams":              "false, finding 3",
		"long_query_time":                "0 s, restored to 10 s",
		"open files, userapi":            "1,024, headroom: 534 used at most",
	} {
		if rows[name] != want {
			t.Errorf("%s: %q, want %q", name, rows[name], want)
		}
	}
	if _, ok := rows["slow_query_log"]; !ok {
		t.Error("what kasoku changed is missing")
	}
}

func TestRowChecks(t *testing.T) {
	for _, x := range []struct {
		c    kasoku.RowCheck
		want string
	}{
		{kasoku.RowCheck{Table: "users", After: 4150, Successes: 4150}, "rows in users 4,150 = 2xx answers"},
		{kasoku.RowCheck{Table: "users", Before: 10, After: 4159, Successes: 4150}, "rows in users 4,149, 2xx answers 4,150: 1 missing"},
		{kasoku.RowCheck{Table: "users", After: 4152, Successes: 4150}, "rows in users 4,152, 2xx answers 4,150: 2 too many"},
	} {
		if got := rowText(x.c); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

func TestTimelineGapsStayGaps(t *testing.T) {
	tl := show(sample.Before()).Section(SectionTimeline).Blocks[0].(*Timeline)
	chart := func(id string) *Chart {
		for i := range tl.Charts {
			if tl.Charts[i].ID == id {
				return &tl.Charts[i]
			}
		}
		t.Fatalf("no chart %s", id)
		return nil
	}
	conns := chart("connections")
	if v := conns.Series[0].Values[30]; !math.IsNaN(v) {
		t.Errorf("a missed sample is %v, want nothing", v)
	}
	if len(conns.Gaps) != 1 || conns.Gaps[0].Text != "no sample at 30 s" {
		t.Errorf("gaps %v, want one at 30 s", conns.Gaps)
	}
	for _, s := range chart("new-connections").Series[1].Spans {
		if s.From == 30 && s.To != 32 {
			t.Errorf("the rate after a missed sample covers %v to %v, want 30 to 32", s.From, s.To)
		}
	}
	if v := chart("latency").Series[0].Values[13]; !math.IsNaN(v) {
		t.Errorf("a second without answers has latency %v", v)
	}
	if len(chart("requests").Bands) != 1 || len(chart("cpu").Bands) != 0 {
		t.Error("only charts that findings quote have bands")
	}
	if tl.Rows != 3 || len(tl.Lane) != 4 {
		t.Errorf("lane has %d marks in %d rows, want 4 in 3", len(tl.Lane), tl.Rows)
	}
}

func TestCPUStackAddsUp(t *testing.T) {
	tl := show(sample.Before()).Section(SectionTimeline).Blocks[0].(*Timeline)
	var names []string
	sum := 0.0
	for _, c := range tl.Charts {
		if c.ID != "cpu" {
			continue
		}
		for _, s := range c.Series {
			names = append(names, s.Name)
			sum += s.Values[33]
		}
	}
	want := "userapi user, userapi system, mariadbd user, mariadbd system, kasoku itself, other"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("series %q, want %q", got, want)
	}
	if math.Abs(sum-1.80) > 0.03 {
		t.Errorf("at 33 s the stack is %v cores high, want 1.80", sum)
	}
}

// A column of a long run must not hide the second in which requests failed.
func TestLongRunKeepsItsWorstSecond(t *testing.T) {
	tl := show(sample.Long()).Section(SectionTimeline).Blocks[0].(*Timeline)
	if tl.Column != 6 || tl.Note == "" {
		t.Fatalf("columns of %d s, note %q; want 6 s and a note", tl.Column, tl.Note)
	}
	for _, c := range tl.Charts {
		for _, s := range c.Series {
			want := map[string]float64{"errors": 40, "max": 400, "Threads_connected": 140, "all processes": 1.9}[s.Name]
			if want > 0 && math.Abs(most(s.Values)-want) > 0.01 {
				t.Errorf("%s %s peaks at %v, want %v", c.ID, s.Name, most(s.Values), want)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	labels := func(ts []Tick) string {
		var out []string
		for _, x := range ts {
			out = append(out, x.Label)
		}
		return strings.Join(out, " ")
	}
	plain := func(v float64) string { return raw(v) }
	for _, x := range []struct{ got, want string }{
		{labels(linearAxis(1000, nil, plain).Ticks), "0 500 1000"},
		{labels(linearAxis(999.7, nil, plain).Ticks), "0 500 1000"},
		{labels(linearAxis(152, []Limit{{Value: 151}}, plain).Ticks), "0 50 100"},
		{labels(linearAxis(1.8, []Limit{{Value: 2}}, plain).Ticks), "0 1 2"},
		{labels(linearAxis(0, nil, plain).Ticks), "0 0.5 1"},
		{labels(logAxis(9.6, 1814, axisLatency).Ticks), "10 ms 100 ms 1 s"},
		{labels(logAxis(24, 60, axisLatency).Ticks), "20 ms 50 ms"},
		{labels(logAxis(0.05, 0.9, axisLatency).Ticks), "100 µs 1 ms"},
		{labels((&Timeline{Seconds: 42}).Ticks()), "0 s 5 s 10 s 15 s 20 s 25 s 30 s 35 s 40 s"},
		{labels((&Timeline{Seconds: 7200}).Ticks()), "0 min 20 min 40 min 60 min 80 min 100 min 120 min"},
	} {
		if x.got != x.want {
			t.Errorf("ticks %q, want %q", x.got, x.want)
		}
	}
}

func tell(t *testing.T) *Document {
	t.Helper()
	before, after := sample.Before(), sample.After()
	c, err := compare.Compare([]*kasoku.Recording{before}, []*kasoku.Recording{after}, compare.Options{Resamples: 200})
	if err != nil {
		t.Fatal(err)
	}
	st := Story{Before: before, After: after, Comparison: c}
	for _, x := range sample.Trials() {
		e, err := compare.Effect(compare.Cut{Run: before, Step: 3}, compare.Cut{Run: x.Run, Step: 1}, compare.Options{Resamples: 200})
		if err != nil {
			t.Fatal(err)
		}
		st.Tries = append(st.Tries, Try{Change: x.Change, Finding: x.Finding, Control: x.Control, Effect: e})
	}
	return Tell(st, Options{Location: sample.JST})
}

func TestTell(t *testing.T) {
	d := tell(t)
	tries := d.Section(SectionTries).Blocks[0].(*Table)
	var got []string
	for _, r := range tries.Rows {
		got = append(got, r.Cells[0].Text+": "+r.Cells[len(r.Cells)-1].Text)
	}
	want := "as it is: before|db.SetMaxIdleConns(1000): better|max_connections = 1000: fixes it|interpolateParams=true: no effect|" +
		"db.Create instead of db.Save: better|db.SetMaxIdleConns(10000) after 1000: no effect|all together: after"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("tries\n%s, want\n%s", s, want)
	}
	times := d.Section(SectionTimeline)
	b, a := times.Blocks[0].(*Timeline), times.Blocks[1].(*Timeline)
	for i := range b.Charts {
		for k := range a.Charts {
			if b.Charts[i].ID == a.Charts[k].ID && b.Charts[i].Top != a.Charts[k].Top {
				t.Errorf("chart %s goes to %v before and %v after", b.Charts[i].ID, b.Charts[i].Top, a.Charts[k].Top)
			}
		}
	}
	for _, m := range a.Lane {
		if m.ID == "DBC-01" && m.Number != 4 {
			t.Errorf("DBC-01 is finding %d after, want its number of before, 4", m.Number)
		}
	}
}

// A story whose end was never reached still shows what there is.
func TestTellWithoutEnd(t *testing.T) {
	d := Tell(Story{Before: sample.Stopped(), Tries: []Try{{Change: "x", Failed: "interrupt"}}}, Options{})
	if d.Verdict == "" || d.Section(SectionTries) == nil || d.Section(SectionTimeline) == nil {
		t.Errorf("document %+v", d)
	}
}

func TestTSVRawValues(t *testing.T) {
	table := show(sample.Before()).Section(SectionSteps).Blocks[0].(*Table)
	last := table.Rows[2].Cells
	for i, want := range map[int]string{1: "1000", 3: "0.305", 9: "6950"} {
		if last[i].Raw != want {
			t.Errorf("%s is %q, want %q", table.Columns[i].Key, last[i].Raw, want)
		}
	}
}

// After a virtual machine stood still its counters can show more CPU time than there
// was; the axis stays readable and the value is printed.
func TestImpossibleCPU(t *testing.T) {
	r := sample.Command()
	for i := range r.Series {
		if s := &r.Series[i]; s.Key.Source == "host" && s.Key.Name == "cpu.user" {
			for k := 5; k < len(s.Points); k++ {
				s.Points[k].Value += 8
			}
		}
	}
	c := show(r).Section(SectionTimeline).Blocks[0].(*Timeline).Charts[0]
	if c.ID != "cpu" || c.Top > 3 || len(c.Gaps) != 1 || c.Gaps[0].Text != "9.75 cores counted at 4 s, more than there are" {
		t.Errorf("chart %s to %v with notes %v, want cpu to about 2 with one note", c.ID, c.Top, c.Gaps)
	}
}
