package timeline

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/varnish"
	"github.com/kasoku/kasoku/report/recorded"
)

// TestServerCharts: charts of servers are there when something happened in them.
func TestServerCharts(t *testing.T) {
	grows := func(source, name string, vs ...float64) kasoku.Series {
		s := gaugeOf(source, name, "", vs...)
		s.Kind = kasoku.Counter
		return s
	}
	r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
		gaugeOf("nginx", "reading", "", 0, 0, 0), gaugeOf("nginx", "waiting", "", 3, 5, 2), gaugeOf("nginx", "writing",
			"", 1, 40, 1),
		grows("varnish", "MAIN.cache_hit", 10, 10, 10), grows("varnish", "MAIN.cache_miss", 0, 5, 6),
		grows("redis", "total_commands_processed", 0, 100, 300), grows("redis", "keyspace_misses", 7, 7, 7),
	}}}
	charts := serverCharts{newDrawing(r)}
	for _, c := range []struct {
		of   *observe.Declaration
		want string
	}{
		{&nginx.Declared, "reading 0, writing 40, waiting 5"}, {&varnish.Declared, "misses 5"},
		{&redis.Declared, "commands 200"},
	} {
		chart := charts.serverChart(c.of)
		if chart == nil {
			t.Errorf("no chart: %s", c.want)
			continue
		}
		var got []string
		for _, s := range chart.Series {
			got = append(got, s.Name+" "+s.Peak)
		}
		if s := strings.Join(got, ", "); s != c.want || len(chart.quotes) == 0 || !(chart.Axis.Top > 0) {
			t.Errorf("got %q, want %q", s, c.want)
		}
	}
	if len(charts.timeline.Sparks) != 1 || charts.timeline.Sparks[0].Peak != "max 200 commands/s" {
		t.Errorf("%+v", charts.timeline.Sparks)
	}
	r = recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
		gaugeOf("nginx", "writing", "", 0, 0), grows("redis", "total_commands_processed", 5, 5),
	}}}
	charts = serverCharts{newDrawing(r)}
	if charts.serverChart(&nginx.Declared) != nil || charts.serverChart(&varnish.Declared) != nil ||
		charts.serverChart(&redis.Declared) != nil {
		t.Error("a chart of nothing")
	}
}
