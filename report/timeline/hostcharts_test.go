package timeline

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report/recorded"
)

// TestCPUChart_Members: members are drawn by role in their colours, under their program's
// name, however much a stranger uses; what is left over are neighbours. Without a known
// service it is the programs that use the most.
func TestCPUChart_Members(t *testing.T) {
	counter := func(source, name, instance string, perSec float64) kasoku.Series {
		s := gaugeOf(source, name, instance, 0, perSec, 2*perSec, 3*perSec)
		s.Kind = kasoku.Counter
		return s
	}
	series := []kasoku.Series{
		counter("host", "cpu.user", "", 1.9),
		counter("process", "cpu.user", "10 nginx", 0.05), counter("process", "cpu.user", "20 ruby", 0.01), counter("process", "cpu.user", "21 ruby", 0.01),
		counter("process", "cpu.user", "30 mariadbd", 0.1), counter("process", "cpu.user", "99 mariadbd", 1.2), counter("process", "cpu.user", "98 gcc", 0.5),
	}
	member := func(role kasoku.MemberRole, program string, pids ...int) kasoku.Member {
		m := kasoku.Member{ID: program, Role: role, Program: program, Sure: kasoku.High}
		for _, pid := range pids {
			m.Processes = append(m.Processes, kasoku.MemberProcess{PID: pid})
		}
		return m
	}
	f := func(want string, s *kasoku.Service) {
		t.Helper()
		r := recorded.View{Recording: &kasoku.Recording{Run: kasoku.Run{Length: 3 * time.Second}, Series: series, Service: s}}
		c := cpuCharts{newDrawing(r)}.cpuChart()
		if c == nil {
			t.Fatal("no chart")
		}
		var got []string
		for _, s := range c.Series {
			got = append(got, s.Name+" "+s.Colour)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("got %s\nwant %s", text, want)
		}
	}
	f("nginx user s4, puma × 2 user s1, mariadbd user s2, neighbours, kernel s5", &kasoku.Service{Members: []kasoku.Member{
		member(kasoku.RoleWeb, "nginx", 10), member(kasoku.RoleApplication, "puma", 20, 21), member(kasoku.RoleDatabase, "mariadbd", 30)}})
	f("gcc user s1, mariadbd × 2 user s2, nginx user s4, other s5", nil)
}

// TestWorker_Started: what a member used before its processes were watched is not what it starts.
func TestWorker_Started(t *testing.T) {
	no := math.NaN()
	for name, c := range map[string]struct {
		tree, user []float64
		count      int
		want       string
	}{
		"watched late":           {[]float64{0.4, 0.4, 0.5, 0.5}, []float64{no, no, 0.5, 0.5}, 1, "app, user and system"},
		"starts programs":        {[]float64{0.4, 0.4, 0.5, 0.5}, []float64{0.1, 0.1, 0.1, 0.1}, 1, "app, what it starts"},
		"is idle itself":         {[]float64{0.4, 0.4, 0.5, 0.5}, []float64{no, no, no, no}, 0, "app, what it starts"},
		"all of it is its own":   {[]float64{0.4, 0.4, 0.5, 0.5}, []float64{0.4, 0.4, 0.5, 0.5}, 1, ""},
		"late, and then it does": {[]float64{0.4, 0.4, 0.5, 0.5}, []float64{no, 0.1, 0.1, 0.1}, 1, "app, what it starts"},
	} {
		w := worker{name: "app", count: c.count, tree: c.tree, user: c.user, system: []float64{no, no, no, no}}
		if _, got := w.started(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
