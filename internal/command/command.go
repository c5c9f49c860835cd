// Package command runs child processes.
//
// The one idea: a child leads a process group of its own, and what is done to
// the child is done to the group, so nothing that it started is left
// when the caller gives up. Cancelling the context sends TERM to the group and,
// after a grace, KILL. A child that ends by itself leaves its group alone: what
// it put into the background on purpose goes on.
//
// [Start] and [Process.Wait] run one child; [Run] and [Output] are the short
// forms; [Tail] keeps the last bytes of an output; [LookPath] finds a program,
// daemons included, [TrustedPath] one that root may run for kasoku's own ends.
// Times are on the monotonic clock, sizes in bytes.
//
// The package is for Linux. Sources: wait4(2), getrusage(2), setpgid(2),
// prctl(2) PR_SET_PDEATHSIG.
package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// DefaultGrace is the time between TERM and KILL when [Spec.Grace] is zero.
const DefaultGrace = 5 * time.Second

// A Spec is what to run. Only Path is needed.
type Spec struct {
	Path   string    // program; without a slash it is looked up as [LookPath] does
	Name   string    // that the program is called by, its argument 0; empty: Path
	Args   []string  // without the program's name
	Env    []string  // NAME=VALUE, added to the environment; later ones win
	Dir    string    // working directory; empty: the caller's
	Stdin  io.Reader // nil: /dev/null; a reader that is no *os.File must not block for ever
	Stdout io.Writer // nil: /dev/null
	Stderr io.Writer // nil: /dev/null; may be the same value as Stdout, which keeps their order

	// StdoutEnv names a variable that says to the child's descendants which file
	// Stdout is, in the form of [FileID], so that they can find out whether theirs
	// is the same. Empty: none.
	StdoutEnv string

	// Trusted runs a program for kasoku's own ends: it is found as [TrustedPath] does,
	// and its environment is PATH, HOME, LC_ALL=C and Env alone.
	Trusted bool
	// As runs the child as another user, which takes root; nil: as the caller.
	As *Identity
	// CleanEnv starts from PATH, HOME, USER, LOGNAME, TMPDIR and LC_ALL=C
	// rather than from the caller's whole environment.
	CleanEnv bool
	// Grace is the time between TERM and KILL once the context is cancelled.
	Grace time.Duration
	// KeepForeground leaves the child in the caller's process group: it may
	// read from the terminal and gets Ctrl-C from it, so the caller need not
	// forward that. Its descendants are then found through /proc.
	KeepForeground bool
	// DieWithParent kills the child, though not its descendants, when the
	// calling process dies. The kernel forgets it when the child changes its
	// user.
	DieWithParent bool
	// EndWithParent is the same with TERM, so that the child may clean up.
	EndWithParent bool
	// NewSession detaches the child from the terminal (setsid).
	NewSession bool
}

// A Result is how a child ended and what it used, descendants that it waited
// for included.
type Result struct {
	ExitCode     int    // -1 when killed by a signal
	Signal       string // "killed", empty unless killed by a signal
	Wall         time.Duration
	User, System time.Duration // CPU
	MaxRSSBytes  uint64        // of the largest single process
	Voluntary    uint64        // context switches
	Forced       uint64        // context switches
}

// Success reports whether the child exited with status 0.
func (r Result) Success() bool { return r.ExitCode == 0 && r.Signal == "" }

// String returns "exit status 3" or "killed by signal: terminated".
func (r Result) String() string {
	if r.Signal != "" {
		return "killed by signal: " + r.Signal
	}
	return fmt.Sprintf("exit status %d", r.ExitCode)
}

// An ExitError reports that a child ended without success.
type ExitError struct {
	Name   string // base name of the program
	Result Result
	Stderr string // the end of what it wrote there, empty when that went elsewhere
}

// Error returns one line, with the last line that the child wrote.
func (e *ExitError) Error() string {
	msg := e.Name + ": " + e.Result.String()
	if lines := strings.Split(strings.TrimSpace(e.Stderr), "\n"); lines[len(lines)-1] != "" {
		msg += ": " + strings.TrimSpace(lines[len(lines)-1])
	}
	return msg
}

// A StartError reports that a program could not be started.
type StartError struct {
	Path string
	Err  error
}

// Error returns "start PATH: cause".
func (e *StartError) Error() string {
	cause := e.Err
	var pathErr *os.PathError
	if errors.As(cause, &pathErr) {
		cause = pathErr.Err
	}
	return fmt.Sprintf("start %q: %v", e.Path, cause)
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Hint returns what to do about it.
func (e *StartError) Hint() string {
	switch {
	case errors.Is(e.Err, exec.ErrNotFound), errors.Is(e.Err, os.ErrNotExist):
		return "is it installed, and on PATH? Shell syntax needs a shell: sh -c '…'"
	case errors.Is(e.Err, os.ErrPermission):
		return "the file must be executable: chmod +x"
	}
	return ""
}

// ExitCode returns what a shell would report of a start that went wrong: 127
// for a program that is not there, 126 for one that cannot be run.
func (e *StartError) ExitCode() int {
	if errors.Is(e.Err, exec.ErrNotFound) || errors.Is(e.Err, os.ErrNotExist) {
		return 127
	}
	return 126
}

// daemonDirs is where Debian puts daemons and an ordinary user's PATH does not look.
const daemonDirs = "/usr/local/sbin:/usr/sbin:/sbin"

// LookPath finds a program on PATH or, for daemons, in the sbin directories. A
// name with a slash is returned as it is when it can be run.
func LookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || strings.Contains(name, "/") {
		return path, err
	}
	for _, dir := range filepath.SplitList(daemonDirs) {
		if p, e := exec.LookPath(filepath.Join(dir, name)); e == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("look up %q: %w", name, exec.ErrNotFound)
}

// environ returns the child's environment.
func (s *Spec) environ() []string {
	if s.Trusted {
		return s.trustedEnv()
	}
	if !s.CleanEnv {
		return append(os.Environ(), s.Env...)
	}
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "TMPDIR"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return append(append(env, "LC_ALL=C"), s.Env...)
}
