package guard

import (
	"encoding/json"
	"io"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/procstat"
)

// A Request is what the guard process has to do should the recorder die. It goes
// through a pipe, since it holds a password.
type Request struct {
	Dir    string // of the journals; empty when there are none
	DSN    string // with the password; empty without a database
	Holder Holder // the recorder
	Place  Place  // of the recorder on the server; the zero value: it has none

	Listener Listener // the server that was recorded
}

// A message is what a recorder sends to its guard; one field of it is set.
type message struct {
	Request *Request  `json:"request,omitempty"`
	Command *workload `json:"command,omitempty"`
	Done    bool      `json:"done,omitempty"`
}

// A workload is the command that a recorder runs, which leads a process group of
// its own. The zero value is none, or one that has ended.
type workload struct {
	Mark  string `json:"mark,omitempty"` // that all of its processes have in their environment
	PID   int    `json:"pid,omitempty"`  // of its first process; 0 while that is not known
	Start uint64 `json:"start,omitempty"`
}

// A Legacy is what a recorder left that died.
type Legacy struct {
	Request Request
	command workload
	stand   *stand // its place on the server, so that what it changed is not taken for the originals
}

// Watch reads the messages of a recorder. It returns nil when the recorder has called
// [Process.Done], and what it left when it has died.
func Watch(in io.Reader) *Legacy {
	var l Legacy
	for d := json.NewDecoder(in); ; {
		var m message
		switch err := d.Decode(&m); {
		case err != nil:
			return &l
		case m.Done:
			l.stand.leave()
			return nil
		case m.Command != nil:
			l.command = *m.Command
		case m.Request != nil:
			l.Request = *m.Request
			if l.stand == nil && l.Request.DSN != "" && l.Request.Place.Number > 0 {
				l.stand = takeStand(l.Request)
			}
		}
	}
}

// markedFor is how long the processes of a command are looked for that was being
// started when its recorder was killed: the recorder's pipe is closed before the
// kernel is done with it, and a process has its environment only from its exec on.
const markedFor = 2 * time.Second

// EndCommand ends the process group of the recorder's command: TERM, and KILL
// after a grace.
func (l *Legacy) EndCommand() {
	w := l.command
	if w.PID > 1 {
		// The number of a group is not given away while it has members. A first
		// process of another start means that the group is gone.
		if start, ok := command.StartOf(w.PID); !ok || start == w.Start {
			end(w.PID)
		}
		return
	}
	if w.Mark == "" {
		return
	}
	over := time.NewTimer(markedFor)
	defer over.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		for _, group := range marked(w.Mark) {
			end(group)
		}
		select {
		case <-tick.C:
		case <-over.C:
			return
		}
	}
}

// marked returns the process groups with the mark in their environment: of a
// command that has only been started it is one.
func marked(mark string) []int {
	var out []int
	own, _ := unix.Getpgid(0)
	pids, _ := procstat.Processes("/proc") // without procfs nothing is marked
	for _, pid := range pids {
		if !foreign.EnvironmentHas(pid, mark) {
			continue
		}
		if group, err := unix.Getpgid(pid); err == nil && group > 1 && group != own && !slices.Contains(out, group) {
			out = append(out, group)
		}
	}
	return out
}

// end ends a process group.
func end(group int) {
	if syscall.Kill(-group, syscall.SIGTERM) != nil {
		return // no recorder is left
	}
	grace := time.NewTimer(command.DefaultGrace)
	defer grace.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for syscall.Kill(-group, 0) == nil {
		select {
		case <-tick.C:
		case <-grace.C:
			_ = syscall.Kill(-group, syscall.SIGKILL) // the last of them may have ended just now
			return
		}
	}
}
