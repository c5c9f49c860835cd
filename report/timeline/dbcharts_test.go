package timeline

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report/recorded"
)

// gaugeOf is a series with a value each second.
func gaugeOf(source, name, instance string, vs ...float64) kasoku.Series {
	s := kasoku.Series{Key: kasoku.Key{Source: source, Name: name, Instance: instance}}
	for i, v := range vs {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i)*time.Second + time.Second/2, Value: v})
	}
	return s
}

func TestTransactionsChart(t *testing.T) {
	f := func(waiting, oldest float64, want string) {
		t.Helper()
		r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
			gaugeOf("mysql", "trx.active", "", 1, 4, 2), gaugeOf("mysql", "trx.waiting", "", 0, waiting, 0), gaugeOf("mysql", "trx.oldest", "", 0, oldest, 0),
		}}}
		got := "none"
		if c := (databaseCharts{newDrawing(r)}).transactionsChart(); c != nil {
			got = c.Title + "; " + c.Unit
			for _, s := range c.Series {
				got += "; " + s.Name + " " + s.Peak
			}
		}
		if got != want {
			t.Errorf("waiting %v, oldest %v: %q", waiting, oldest, got)
		}
	}
	f(0, 1.9, "none")
	f(2, 0.5, "Open transactions; ; open 4; waiting for a lock 2")
	f(0, 7.4, "Open transactions; the oldest was open for 7 s; open 4; waiting for a lock 0")
	if c := (databaseCharts{newDrawing(recorded.View{Recording: &kasoku.Recording{}})}).transactionsChart(); c != nil {
		t.Errorf("%+v", c)
	}
}

func TestReplicationChart(t *testing.T) {
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}}}
	if c := (databaseCharts{newDrawing(r)}).replicationChart(); c != nil {
		t.Errorf("%+v", c)
	}
	for _, channel := range []string{"", "east", "b", "c", "d", "e"} {
		r.Series = append(r.Series, gaugeOf("replication", "lag", channel, 0, 12, 3))
	}
	r.Gaps = []kasoku.Gap{{Source: "replication", Interval: kasoku.Interval{From: time.Second, To: 2 * time.Second}, Reason: "no right"}}
	c := databaseCharts{newDrawing(r)}.replicationChart()
	if len(c.Series) != mostChannels || c.Series[0].Name != "lag" || c.Series[1].Name != "east" || c.Series[1].Peak != "12" || c.Axis.Top < 12 || len(c.Gaps) != 1 {
		t.Errorf("%+v", c)
	}
}
