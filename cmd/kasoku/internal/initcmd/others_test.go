package initcmd

import (
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/find"
)

// TestOthers: the service that was chosen is not among the others, by whichever of its doors
// it was named.
func TestOthers(t *testing.T) {
	service := func(pids ...int) (s kasoku.Service) {
		for _, pid := range pids {
			s.Members = append(s.Members, kasoku.Member{Processes: []kasoku.MemberProcess{{PID: pid, Leader: true}}})
		}
		return s
	}
	all := []find.Candidate{{URL: "http://127.0.0.1/", Service: service(1, 2, 3)}, {URL: "http://127.0.0.1:81/", Service: service(1, 4)},
		{URL: "http://127.0.0.1:82/", Service: service(5)}}
	for _, c := range []struct {
		chosen kasoku.Service
		others int
	}{
		{service(1, 2, 3), 2},    // by the web server
		{service(2, 3), 2},       // by the application's own port
		{service(1, 2, 3, 6), 2}, // a member more than when it was listed
		{service(5), 2}, {service(7), 3},
	} {
		if got := othersThan(&c.chosen, all); len(got) != c.others {
			t.Errorf("%+v: %d others, want %d", c.chosen, len(got), c.others)
		}
	}
}
