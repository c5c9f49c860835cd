package recording

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
	"github.com/kasoku/kasoku/report/recorded"
)

func show(r *kasoku.Recording) *report.Document {
	return Show(r, report.Options{Location: sample.JST})
}

func TestShowSections(t *testing.T) {
	ids := func(d *report.Document) string {
		var out []string
		for _, s := range d.Sections {
			out = append(out, s.ID)
		}
		return strings.Join(out, " ")
	}
	for _, x := range []struct {
		name string
		d    *report.Document
		want string
	}{
		{"all", show(sample.Before()), "findings time steps endpoints queries messages config warnings cost"},
		{"some", Show(sample.Before(), report.Options{Sections: []string{report.SectionQueries, report.SectionTimeline}}), "time queries"},
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
	f := show(sample.Before()).Section(report.SectionFindings).Blocks[0].(*report.Findings)
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
	f := show(sample.Quiet()).Section(report.SectionFindings).Blocks[0].(*report.Findings)
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
	table := show(sample.Before()).Section(report.SectionConfig).Blocks[0].(*report.Table)
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
	tl := show(sample.Before()).Section(report.SectionTimeline).Blocks[0].(*report.Timeline)
	chart := func(id string) *report.Chart {
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
	tl := show(sample.Before()).Section(report.SectionTimeline).Blocks[0].(*report.Timeline)
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
	tl := show(sample.Long()).Section(report.SectionTimeline).Blocks[0].(*report.Timeline)
	if tl.Column != 6 || tl.Note == "" {
		t.Fatalf("columns of %d s, note %q; want 6 s and a note", tl.Column, tl.Note)
	}
	for _, c := range tl.Charts {
		for _, s := range c.Series {
			want := map[string]float64{"errors": 40, "max": 400, "Threads_connected": 140, "all processes": 1.9}[s.Name]
			if want > 0 && math.Abs(report.Largest(s.Values)-want) > 0.01 {
				t.Errorf("%s %s peaks at %v, want %v", c.ID, s.Name, report.Largest(s.Values), want)
			}
		}
	}
}

func TestTSVRawValues(t *testing.T) {
	table := show(sample.Before()).Section(report.SectionSteps).Blocks[0].(*report.Table)
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
	c := show(r).Section(report.SectionTimeline).Blocks[0].(*report.Timeline).Charts[0]
	if c.ID != "cpu" || c.Top > 3 || len(c.Gaps) != 1 || c.Gaps[0].Text != "9.75 cores counted at 4 s, more than there are" {
		t.Errorf("chart %s to %v with notes %v, want cpu to about 2 with one note", c.ID, c.Top, c.Gaps)
	}
}

func TestScore(t *testing.T) {
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Project: "shop", Group: "g", Repeat: 2, Score: &kasoku.Score{Value: 1234.5, Outcome: kasoku.Passed, Source: "output, JSON score"}}}}
	if got := strings.Join((summary{r}).head(), " | "); !strings.Contains(got, "| score 1,234.5, pass") {
		t.Errorf("head %q", got)
	}
	var got []string
	for _, f := range (summary{r}).facts() {
		got = append(got, f.Label+": "+f.Value)
	}
	if all := strings.Join(got, "\n"); !strings.Contains(all, "Score: 1,234.5, pass; from output, JSON score") || !strings.Contains(all, "Repeat: 2 of group g") {
		t.Errorf("facts\n%s", all)
	}
}

// Columns of what was not counted are left out.
func TestQueryColumnsOfOlderRun(t *testing.T) {
	keys := func(r *kasoku.Recording) string {
		var out []string
		for _, c := range show(r).Section(report.SectionQueries).Blocks[0].(*report.Table).Columns {
			out = append(out, c.Key)
		}
		return strings.Join(out, " ")
	}
	shop, _ := sample.Analysed()
	if got := keys(shop); !strings.Contains(got, "streak_ratio repeated_ratio") {
		t.Errorf("columns %s", got)
	}
	if got := keys(sample.Before()); strings.Contains(got, "streak") || strings.Contains(got, "repeated") {
		t.Errorf("columns %s of a file that has not counted", got)
	}
}
