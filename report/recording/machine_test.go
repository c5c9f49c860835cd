package recording

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/machine"
	"github.com/kasoku/kasoku/report/recorded"
)

// grown makes a counter that grows so much a second.
func grown(source, name, instance, unit string, perSec ...float64) kasoku.Series {
	s := kasoku.Series{Key: kasoku.Key{Source: source, Name: name, Instance: instance}, Kind: kasoku.Counter, Unit: unit}
	sum := 100.0
	s.Points = append(s.Points, kasoku.Point{Value: sum})
	for i, v := range perSec {
		sum += v
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i+1) * time.Second, Value: sum})
	}
	return s
}

// seen makes a gauge.
func seen(source, name, instance string, values ...float64) kasoku.Series {
	s := kasoku.Series{Key: kasoku.Key{Source: source, Name: name, Instance: instance}, Unit: "count"}
	for i, v := range values {
		s.Points = append(s.Points, kasoku.Point{At: time.Duration(i) * time.Second, Value: v})
	}
	return s
}

func TestMachine(t *testing.T) {
	run := &kasoku.Recording{
		Run: kasoku.Run{Label: "a", Length: 4 * time.Second, Hosts: []kasoku.Host{{Cores: 2}}},
		Series: []kasoku.Series{
			grown("process", "unit.cpu", "nginx.service", "s", 0.1, 0.2, 0.1, 0),
			grown("process", "exe.cpu", "mariadbd", "s", 1, 1.5, 1, 1), // a step may hold what three ticks did
			grown("process", "exe.cpu", "idle", "s", 0, 0, 0, 0),
			grown("process", "cpu.unattributed", "", "s", 0.5, 0.5, 0.5, 0.5),
			grown("process", "thread.cpu", "7/9 binlog", "s", 0.99, 0.98, 1, 1),
			grown("process", "thread.wait", "7/9 binlog", "s", 0.25, 0.25, 0.25, 0.25),
			grown("process", "thread.cpu", "7/8 worker", "s", 0.3, 0.3, 0.3, 0.3),
			grown("host", "disk.busy", "vda", "s", 0.1, 0.9, 0.1, 0.1),
			grown("host", "disk.reads", "vda", "count", 0, 0, 0, 0),
			grown("host", "disk.writes", "vda", "count", 10, 70, 10, 10),
			grown("host", "disk.write_time", "vda", "s", 0.05, 0.35, 0.05, 0.05),
			seen("sockets", "accept.queue", "0.0.0.0:80 nginx", 0, 12, 129, 0),
			seen("sockets", "accept.limit", "0.0.0.0:80 nginx", 128, 128, 128, 128),
			grown("sockets", "accept.drops", "0.0.0.0:80 nginx", "count", 0, 0, 7, 0),
			seen("sockets", "accept.queue", "0.0.0.0:81 nginx", 0, 0, 0, 0),
			seen("host", "conntrack.count", "", 10, 60),
			seen("host", "conntrack.max", "", 100, 100),
			seen("self", "tick.late", "", 0.001, 0.012),
		},
	}
	run.Series = append(run.Series, grown("self", "cpu.user", "", "s", 0.01, 0.01, 0.01, 0.01))
	d := Show(run, report.Options{})
	s := d.Section(machine.SectionMachine)
	if s == nil {
		t.Fatal("no section")
	}
	f := func(id, want string) {
		t.Helper()
		for _, b := range s.Blocks {
			table, ok := b.(*report.Table)
			if !ok || table.ID != id {
				continue
			}
			var rows []string
			for _, r := range table.Rows {
				var cells []string
				for _, c := range r.Cells {
					cells = append(cells, c.Text)
				}
				rows = append(rows, strings.Join(cells, " | "))
			}
			if got := strings.Join(rows, "\n"); got != want {
				t.Errorf("%s:\n%s\nwant\n%s", id, got, want)
			}
			if id == "groups" && !strings.HasPrefix(string(table.Note), "2.00 s more") {
				t.Errorf("note %q", table.Note)
			}
			return
		}
		t.Errorf("no table %s", id)
	}
	f("groups", "nginx.service | unit | 0.40 | 0.13\nmariadbd | program | 4.50 | 1.17")
	f("threads", "7/9 binlog | 3.97 | 1.00 | 1.00")
	f("disks", "vda | 30.0 | 90.0 | 100 | – | 5.00 | – | –")
	f("listeners", "0.0.0.0:80 nginx | 129 | 128 | 7")
	if h := machine.Headroom(recorded.View{Recording: run}); !strings.HasPrefix(h, "connections to accept, 0.0.0.0:80 nginx, 129 of 128 used at most") {
		t.Error(h)
	}
	cost := d.Section(report.SectionCost).Blocks[0].(*report.Table)
	if cost.Note != "Ticks were at most 12.0 ms late." {
		t.Errorf("%q", cost.Note)
	}
	if Show(&kasoku.Recording{Run: kasoku.Run{Length: time.Second}}, report.Options{}).Section(machine.SectionMachine) != nil {
		t.Error("a section that reports nothing")
	}
}
