package compare

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
)

// measured is a run whose service is the program 20, beside a neighbour of the same name.
func measured(label string, own, beside float64, entry string, more ...kasoku.Member) *kasoku.Recording {
	r := build(label, 3, shape{100, 20, 1, 10 * time.Millisecond, 0.1})
	n := int(r.Run.Length / time.Second)
	r.Series = append(r.Series, counterSeries("process", "cpu.user", "20 shop", n, own),
		counterSeries("process", "cpu.user", "91 shop", n, beside), counterSeries("process", "cpu.user", "30 bench", n, 0.3))
	r.Run.Command = &kasoku.Command{Args: []string{"/usr/bin/bench", "-n", "9"}}
	r.Service = &kasoku.Service{Members: append([]kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Program: "shop",
		Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: 20, Leader: true}},
		Listeners: []kasoku.Listener{{Network: "tcp", Address: entry}}}}, more...),
		Edges: []kasoku.Edge{{To: "a", At: kasoku.Listener{Network: "tcp", Address: entry}}}}
	return r
}

// TestCompareMembers: the CPU for a request is the service's; what neighbours use more is
// said as theirs, and makes nothing worse.
func TestCompareMembers(t *testing.T) {
	f := func(b, a *kasoku.Recording) *Comparison {
		t.Helper()
		c, err := Compare(one(b), one(a), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	b, a := measured("b", 0.2, 0.1, "127.0.0.1:8080"), measured("a", 0.2, 1.5, "127.0.0.1:8080")
	c := f(b, a)
	if r := c.Row("cpu_per_success"); r == nil || r.Moved == Worse || within(r.After.Value, 0.0019, 0.0021) != nil {
		t.Errorf("CPU per 2xx %+v", r)
	}
	if strings.Contains(c.Verdict, "Worse") || strings.Contains(c.Verdict, "iffer") {
		t.Error(c.Verdict)
	}
	if r := c.Row("cpu.shop"); r == nil || within(r.After.Value, 0.19, 0.21) != nil {
		t.Errorf("the member %+v", r)
	}
	if r := c.Row("cpu.neighbours"); r == nil || within(r.Before.Value, 0.09, 0.11) != nil || within(r.After.Value, 1.49, 1.51) != nil {
		t.Errorf("neighbours %+v", r)
	}
	// What a member starts is its own; its processes are parts of it.
	tree := measured("a", 0.2, 0.1, "127.0.0.1:8080")
	tree.Series = append(tree.Series, counterSeries("process", "tree.cpu", "20 shop", int(tree.Run.Length/time.Second), 0.6))
	if r := f(measured("b", 0.2, 0.1, "127.0.0.1:8080"), tree).Row("cpu.shop"); r == nil || within(r.After.Value, 0.59, 0.61) != nil {
		t.Errorf("the member with what it starts %+v", r)
	}
	// As long as the members of one side are not known all that ran is counted, on both.
	b.Service = nil
	if r := f(b, a).Row("cpu_per_success"); within(r.Before.Value, 0.0059, 0.0061) != nil || within(r.After.Value, 0.0199, 0.0201) != nil {
		t.Errorf("CPU per 2xx %+v", r)
	}

	// Another target, another service.
	c = f(measured("b", 0.2, 0.1, "127.0.0.1:8080"), measured("a", 0.2, 0.1, "127.0.0.1:8081"))
	if !strings.HasPrefix(c.Verdict, "Different targets: 127.0.0.1:8080 and 127.0.0.1:8081. ") {
		t.Error(c.Verdict)
	}
	c = f(measured("b", 0.2, 0.1, "127.0.0.1:8080"), measured("a", 0.2, 0.1, "127.0.0.1:8080", kasoku.Member{ID: "r",
		Role: kasoku.RoleStore, Program: "redis-server", Sure: kasoku.High, Listeners: []kasoku.Listener{{Network: "tcp", Address: "127.0.0.1:6379"}}}))
	if !strings.HasPrefix(c.Verdict, "The service differs: load → shop; then load → shop → redis-server :6379. ") {
		t.Error(c.Verdict)
	}
	b, a = measured("b", 0.2, 0.1, "127.0.0.1:8080"), measured("a", 0.2, 0.1, "127.0.0.1:8080")
	b.Steps, a.Steps, b.Run.Load, a.Run.Load = nil, nil, "bench -d 3s", "bench -d 6s"
	if c = f(b, a); !strings.HasPrefix(c.Verdict, "Different loads: `bench -d 3s` and `bench -d 6s`. ") {
		t.Error(c.Verdict)
	}
}
