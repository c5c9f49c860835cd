package report

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/redis"
	"github.com/kasoku/kasoku/observe/varnish"
)

// TestServerCharts: charts of servers are there when something happened in them.
func TestServerCharts(t *testing.T) {
	grows := func(source, name string, vs ...float64) kasoku.Series {
		s := gaugeOf(source, name, "", vs...)
		s.Kind = kasoku.Counter
		return s
	}
	r := rec{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
		gaugeOf("nginx", "reading", "", 0, 0, 0), gaugeOf("nginx", "waiting", "", 3, 5, 2), gaugeOf("nginx", "writing", "", 1, 40, 1),
		grows("varnish", "MAIN.cache_hit", 10, 10, 10), grows("varnish", "MAIN.cache_miss", 0, 5, 6),
		grows("redis", "total_commands_processed", 0, 100, 300), grows("redis", "keyspace_misses", 7, 7, 7),
	}}}
	g, told := newGrid(r.length()), Timeline{}
	for _, c := range []struct {
		of   *observe.Declaration
		want string
	}{
		{&nginx.Declared, "reading 0, writing 40, waiting 5"}, {&varnish.Declared, "misses 5"},
		{&redis.Declared, "commands 200"},
	} {
		chart := r.serverChart(g, &told, c.of)
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
	if len(told.Sparks) != 1 || told.Sparks[0].Peak != "max 200 commands/s" {
		t.Errorf("%+v", told.Sparks)
	}
	r = rec{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: []kasoku.Series{
		gaugeOf("nginx", "writing", "", 0, 0), grows("redis", "total_commands_processed", 5, 5),
	}}}
	if r.serverChart(g, nil, &nginx.Declared) != nil || r.serverChart(g, nil, &varnish.Declared) != nil ||
		r.serverChart(g, nil, &redis.Declared) != nil {
		t.Error("a chart of nothing")
	}
}

// TestMessages_Nginx: lines of nginx's error log are distinguished from the application's.
func TestMessages_Nginx(t *testing.T) {
	r := rec{Recording: &kasoku.Recording{
		Logs: []kasoku.LogWindow{{Kind: "errorlog", Lines: 3, Note: "nginx writes no warnings"}},
		Messages: []kasoku.Message{
			{Sample: "upstream timed out", Kind: kasoku.MessageNginx, Level: "error", Count: 2}, {Sample: "put order", Level: "error", Count: 1},
		},
	}}
	s := r.messagesSection()
	table := s.Blocks[0].(*Table)
	if !strings.HasPrefix(string(s.Sub), "From the logs of the application and of nginx, lines") || !strings.Contains(string(s.Sub), "no warnings") {
		t.Errorf("%q", s.Sub)
	}
	for i, want := range []string{"nginx", "application"} {
		if row := table.Rows[i]; len(row.Cells) != len(table.Columns) || table.Columns[3].Key != "of" || row.Cells[3].Text != want {
			t.Errorf("%+v", row)
		}
	}
}
