package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kasoku/kasoku/internal/command"
)

// What a unit does when its program ends.
const (
	RestartOnFailure = "on-failure"
	RestartNo        = "no"
)

// systemd's defaults.
const (
	defaultRestartAfter  = 100 * time.Millisecond
	defaultBurst         = 5
	defaultLimitInterval = 10 * time.Second
)

// A Unit is one program to keep running.
type Unit struct {
	Name    string
	Command []string // argv
	Dir     string
	Env     []string // NAME=VALUE, added to the supervisor's
	Log     string   // file that gets the program's output and the supervisor's lines

	Restart            string        // RestartOnFailure when empty
	RestartAfter       time.Duration // pause before a restart; 0: 100 ms
	StartLimitBurst    int           // starts within StartLimitInterval; 0: 5
	StartLimitInterval time.Duration // 0: 10 s
}

// validate refuses a unit that cannot run.
func (u *Unit) validate() error {
	switch {
	case u.Name == "" || len(u.Command) == 0 || u.Log == "":
		return fmt.Errorf("unit %q: want a name, a command and a log", u.Name)
	case u.Restart != "" && u.Restart != RestartOnFailure && u.Restart != RestartNo:
		return fmt.Errorf("unit %s: restart %q: want %s or %s", u.Name, u.Restart, RestartOnFailure, RestartNo)
	case u.RestartAfter < 0 || u.StartLimitBurst < 0 || u.StartLimitInterval < 0:
		return fmt.Errorf("unit %s: a negative limit", u.Name)
	}
	return nil
}

// withDefaults fills in what was left out.
func (u Unit) withDefaults() Unit {
	if u.Restart == "" {
		u.Restart = RestartOnFailure
	}
	if u.RestartAfter == 0 {
		u.RestartAfter = defaultRestartAfter
	}
	if u.StartLimitBurst == 0 {
		u.StartLimitBurst = defaultBurst
	}
	if u.StartLimitInterval == 0 {
		u.StartLimitInterval = defaultLimitInterval
	}
	return u
}

// An Active is a unit's state, in systemd's words.
type Active string

// The states.
const (
	Inactive   Active = "inactive"
	Running    Active = "active"
	Activating Active = "activating" // waits to be started again
	Failed     Active = "failed"
)

// The results, as systemctl show -p Result prints them.
const (
	Success       = "success"
	ExitCode      = "exit-code"
	Signal        = "signal"
	StartLimitHit = "start-limit-hit"
)

// A State is what a unit is doing.
type State struct {
	Active   Active
	Result   string // of the last end; Success before the first
	Restarts int    // since it was started by hand, NRestarts
	Pid      int    // 0 when nothing runs
}

// String returns "failed (start-limit-hit)", "active".
func (s State) String() string {
	if s.Result == Success {
		return string(s.Active)
	}
	return fmt.Sprintf("%s (%s)", s.Active, s.Result)
}

// ErrStartLimit means that a unit was started too often.
var ErrStartLimit = errors.New("start request repeated too quickly")

// say writes a line of the supervisor's own to the unit's log.
func say(log io.Writer, format string, args ...any) {
	line := fmt.Sprintf("%s supervisor[%d]: %s\n", time.Now().Format(time.Stamp), os.Getpid(),
		fmt.Sprintf(format, args...))
	io.WriteString(log, line) // a full disk must not stop the units
}

// resultOf names an end in systemd's words; ok is false for one that restarts.
func resultOf(r command.Result) (result, words string, ok bool) {
	names := map[int]string{1: "FAILURE", 2: "INVALIDARGUMENT"}
	signals := map[string]string{"killed": "9/KILL", "terminated": "15/TERM", "segmentation fault": "11/SEGV",
		"aborted": "6/ABRT"}
	switch {
	case r.Success():
		return Success, "", true
	case r.Signal != "":
		status := signals[r.Signal]
		if status == "" {
			status = r.Signal
		}
		return Signal, "code=killed, status=" + status, false
	}
	name := names[r.ExitCode]
	if name == "" {
		name = "n/a"
	}
	return ExitCode, fmt.Sprintf("code=exited, status=%d/%s", r.ExitCode, name), false
}
