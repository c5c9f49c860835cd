package tie

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/trace"
)

// start makes a process, and run has it run a program.
func (s *story) start(m maker, child int) { s.add(m, trace.Started, child, "") }

func (s *story) run(pid int, program string) {
	s.tier.Add(&trace.Event{Kind: trace.Executed, At: s.at, PID: pid, TID: pid, FD: pid, Bytes: []byte(program + "\x00")})
}

// wantPrograms checks what the requests of each path started.
func (s *story) wantPrograms(t *testing.T, want string) {
	t.Helper()
	var got []string
	for _, e := range s.tier.Result().Endpoints {
		for _, p := range e.Programs {
			got = append(got, fmt.Sprintf("%s %s %d of %d", e.Path, p.Name, p.Count, p.With))
		}
	}
	if all := strings.Join(got, "; "); all != want {
		t.Errorf("%q, not %q", all, want)
	}
}

// TestPrograms: what a goroutine starts, and what that starts in turn, is its request's; a process that runs no
// other program is none, and a job's are no request's.
func TestPrograms(t *testing.T) {
	s := newStory()
	server, job := goroutine(20, 1), goroutine(5, 1)
	s.start(job, 900)
	s.run(900, "/usr/bin/backup")
	for i := range 2 {
		s.read(server, 10, "/a")
		s.start(server, 100+10*i)
		s.run(100+10*i, "/bin/sh")
		s.tier.Add(&trace.Event{Kind: trace.Started, At: s.at, PID: 100 + 10*i, TID: 100 + 10*i, FD: 101 + 10*i})
		s.run(101+10*i, "/usr/bin/zip")
		s.start(goroutine(uint64(30+i), 20), 102+10*i)
		s.run(102+10*i, "/usr/bin/zip")
		s.start(server, 103+10*i) // a copy of itself
		s.answer(server, 10)
	}
	s.read(server, 10, "/b")
	s.answer(server, 10)
	s.run(555, "/bin/of-nobody")
	s.wantPrograms(t, "/a sh 2 of 2; /a zip 4 of 2")
}

// TestPrograms_Threads: of threads too, also where another one has read the request.
func TestPrograms_Threads(t *testing.T) {
	s := newStory()
	reactor, one, two := thread(1), thread(2), thread(3)
	s.read(reactor, 10, "/a")
	s.read(reactor, 11, "/b")
	s.start(one, 100)
	s.run(100, "cp")
	s.start(two, 200)
	s.run(200, "../x/zip")
	s.answer(one, 10)
	s.start(one, 101) // after the answer of what another thread has read: whose it is, is not known
	s.run(101, "rm")
	s.answer(two, 11)
	s.read(reactor, 10, "/c")
	s.start(one, 102)
	s.run(102, "mv")
	s.answer(one, 10)
	s.wantPrograms(t, "/a cp 1 of 1; /b zip 1 of 1; /c mv 1 of 1")
}

// TestPrograms_Bounded: a process that starts others without end.
func TestPrograms_Bounded(t *testing.T) {
	s := newStory()
	m := thread(1)
	s.read(m, 10, "/a")
	for pid := 1000; pid < 100_000; pid++ {
		s.start(m, pid)
		s.run(pid, fmt.Sprintf("/tmp/\x1b[2J%d%s", pid, strings.Repeat("x", 1000)))
	}
	s.answer(m, 10)
	r := s.tier.Result()
	if n := len(s.tier.starts); n > mostPrograms {
		t.Errorf("%d processes are kept", n)
	}
	p := r.Endpoints[0].Programs
	if len(p) != mostDistinct || len(p[0].Name) > mostName+10 || strings.Contains(p[0].Name, "\x1b") {
		t.Errorf("%d programs, %q", len(p), p[0].Name)
	}
}
