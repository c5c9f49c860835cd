package mask

import (
	"testing"

	"github.com/kasoku/kasoku"
)

// TestNames: what is a member's, the load's or of no program stays; the rest has no name.
func TestNames(t *testing.T) {
	s := &kasoku.Service{Members: []kasoku.Member{{Program: "nginx", Sure: kasoku.High, Unit: "web.service", Container: "0123456789ab",
		Processes: []kasoku.MemberProcess{{PID: 7, Leader: true}}, Listeners: []kasoku.Listener{{Network: "tcp", Address: "0.0.0.0:80"}}}},
		Edges: []kasoku.Edge{{At: kasoku.Listener{Network: "tcp", Address: "10.0.0.9:3306"}}}}
	n := OwnNames(s, []int{9}, []string{"sh", "-c", "/opt/bench --fast"}, func(name string) bool { return name == "wrk" })
	for _, c := range []struct{ series, instance, want string }{
		{"cpu.user", "7 nginx", "7 nginx"}, {"cpu.user", "9 any", "9 any"}, {"cpu.user", "10 wrk", "10 wrk"},
		{"cpu.user", "11 bench", "11 bench"}, {"cpu.user", "12 secret", "12 neighbour"}, {"thread.cpu", "12/13 secret", "12/13 neighbour"},
		{"thread.cpu", "7/8 nginx", "7/8 nginx"}, {"count", "", ""}, {"exe.cpu", "nginx", "nginx"}, {"exe.cpu", "secret", Neighbour},
		{"exe.cpu", "kernel", "kernel"}, {"unit.cpu", "web.service", "web.service"}, {"unit.rss", "other.service", Neighbour},
		{"container.cpu", "ffff secret", Neighbour},
	} {
		if got := n.Instance(c.series, c.instance); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.series, c.instance, got, c.want)
		}
	}
	n.KeepPort("tcp", "db.test:3310")
	for instance, want := range map[string]string{"": "", "at 80": "at 80", "to 80": "to 80", "to 3306": "to 3306", "to 3310": "to 3310",
		"to 443": "to others", "at 8099": "at others", "0.0.0.0:80 nginx": "0.0.0.0:80 nginx", "[::]:8099 secret": Neighbour} {
		if got := n.Socket("", instance); got != want {
			t.Errorf("%q: %q, want %q", instance, got, want)
		}
	}
	if n := OwnNames(&kasoku.Service{}, nil, nil, nil); n != nil {
		t.Error("names of a service of which nothing is known")
	}
}
