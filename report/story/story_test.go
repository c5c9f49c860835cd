package story

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/internal/sample"
)

func newStory(t *testing.T) *report.Document {
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
	return New(st, report.Options{Location: sample.JST})
}

func TestNew(t *testing.T) {
	d := newStory(t)
	tries := d.Section(report.SectionTries).Blocks[0].(*report.Table)
	var got []string
	for _, r := range tries.Rows {
		got = append(got, r.Cells[0].Text+": "+r.Cells[len(r.Cells)-1].Text)
	}
	want := "as it is: before|db.SetMaxIdleConns(1000): better|max_connections = 1000: fixes it|interpolateParams=true: no effect|" +
		"db.Create instead of db.Save: better|db.SetMaxIdleConns(10000) after 1000: no effect|all together: after"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("tries\n%s, want\n%s", s, want)
	}
	times := d.Section(report.SectionTimeline)
	b, a := times.Blocks[0].(*report.Timeline), times.Blocks[1].(*report.Timeline)
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
func TestNewWithoutEnd(t *testing.T) {
	d := New(Story{Before: sample.Stopped(), Tries: []Try{{Change: "x", Failed: "interrupt"}}}, report.Options{})
	if d.Verdict == "" || d.Section(report.SectionTries) == nil || d.Section(report.SectionTimeline) == nil {
		t.Errorf("document %+v", d)
	}
}
