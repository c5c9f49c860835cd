package diagnose

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/process"
)

// TestStrangersGenerator: a program with the name of a load generator made the load where it
// may have, and is a neighbour where something else did.
func TestStrangersGenerator(t *testing.T) {
	known := &kasoku.Service{Members: []kasoku.Member{{ID: "application app :80", Role: kasoku.RoleApplication,
		Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: 7}}}}}
	bench := func(user time.Duration) *kasoku.Command {
		return &kasoku.Command{Args: []string{"./bench.sh"}, Wall: 10 * time.Second, User: user}
	}
	for name, c := range map[string]struct {
		load    *kasoku.LoadSummary
		command *kasoku.Command
		service *kasoku.Service
		want    Role
	}{
		"kasoku's own load":               {&kasoku.LoadSummary{}, nil, known, Neighbour},
		"a command that used as much":     {nil, bench(5 * time.Second), known, Generator},
		"a command that used less":        {nil, bench(time.Second), known, Neighbour},
		"a load from elsewhere":           {nil, nil, known, Generator},
		"of a service that is not known":  {&kasoku.LoadSummary{}, nil, nil, Generator},
		"a command, no service was found": {nil, bench(time.Second), nil, Generator},
	} {
		rec := run(at{rate: 10, from: 0, to: 10, good: 1, latency: time.Millisecond})
		rec.Load, rec.Run.Command, rec.Service = c.load, c.command, c.service
		for _, name := range []string{process.CPUUser, process.CPUSystem} {
			s := kasoku.Series{Key: kasoku.Key{Source: process.Name, Name: name, Instance: "42 wrk"}}
			for i := range 11 {
				s.Points = append(s.Points, kasoku.Point{At: sec(i), Value: float64(i) / 2})
			}
			rec.Series = append(rec.Series, s)
		}
		ps := NewCase(rec, nil).Processes()
		got := -1
		all, err := ps.Programs()
		for _, p := range all {
			if p.Name == "wrk" {
				got = int(p.Role)
			}
		}
		if err != nil || got != int(c.want) {
			t.Errorf("%s: role %d, want %d (%v)", name, got, c.want, err)
		}
	}
}

// TestStrangersCommand: a process that has the name of the command, as of its interpreter, is a
// neighbour where it, or what it started, used more CPU than the command did.
func TestStrangersCommand(t *testing.T) {
	f := func(user time.Duration, counter string, want Role) {
		t.Helper()
		rec := run(at{rate: 10, from: 0, to: 10, good: 1, latency: time.Millisecond})
		rec.Load = nil
		rec.Run.Command = &kasoku.Command{Args: []string{"python3", "sessions.py"}, Wall: 10 * time.Second, User: user}
		rec.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "application app :80", Role: kasoku.RoleApplication,
			Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: 7}}}}}
		for _, name := range []string{process.CPUUser, process.CPUSystem, process.CPUChildren} {
			s := kasoku.Series{Key: kasoku.Key{Source: process.Name, Name: name, Instance: "42 python3"}}
			for i := range 11 {
				p := kasoku.Point{At: sec(i)}
				if name == counter {
					p.Value = float64(i) / 2
				}
				s.Points = append(s.Points, p)
			}
			rec.Series = append(rec.Series, s)
		}
		all, err := NewCase(rec, nil).Processes().Programs()
		if err != nil || len(all) != 1 || all[0].Role != want {
			t.Errorf("%v, %s: %+v, want role %d (%v)", user, counter, all, want, err)
		}
	}
	f(time.Second, process.CPUUser, Neighbour)
	f(time.Second, process.CPUChildren, Neighbour)
	f(5*time.Second, process.CPUUser, Generator)
	f(5*time.Second, process.CPUChildren, Generator)
}
