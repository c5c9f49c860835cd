package window

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/confine"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/trace/kernel"
)

// Rights are the capabilities that watching takes.
const Rights = "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search"

// Possible returns why this process cannot watch others; nil when it can. anyWay says that it may slow
// each system call of the host for that.
func Possible(anyWay bool) error {
	if err := errors.Join(sameNamespace(), kernel.Permitted()); err != nil {
		return explained(err)
	}
	if anyWay {
		return nil
	}
	return explained(kernel.ShowsSockets())
}

// A Refusal is why nothing can be watched, with what grants it.
type Refusal struct {
	Cause error
	Grant string // a command line as root; empty where none helps
	Else  string // what helps there
}

// Error returns the cause, of several each, and what helps.
func (r *Refusal) Error() string {
	cause := strings.ReplaceAll(r.Cause.Error(), "\n", "; ")
	if r.Grant != "" {
		return fmt.Sprintf("%s; as root, or after: sudo %s", cause, r.Grant)
	}
	return fmt.Sprintf("%s; %s", cause, r.Else)
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

// explained adds to an error what helps.
func explained(err error) error {
	if err == nil {
		return nil
	}
	r := &Refusal{Cause: err}
	held, _ := confine.Held()
	switch {
	case errors.Is(err, errNamespace):
		r.Else = "it can be watched by kasoku on the host, or in a container with the host's processes (--pid=host)"
	case errors.Is(err, kernel.ErrNoSockets):
		r.Else = "it takes Linux 6.3 with CONFIG_DEBUG_INFO_BTF=y; [trace] on = true watches every system call of the host"
	case !errors.Is(err, fs.ErrPermission):
		return err
	case held.Has(unix.CAP_SYS_ADMIN) || held.Has(unix.CAP_BPF) && held.Has(unix.CAP_PERFMON):
		r.Else = "the rights are held: a filter of system calls or the kernel's lockdown refuses it"
	default:
		program, pathErr := os.Executable()
		if pathErr != nil {
			program = "kasoku"
		}
		r.Grant = "setcap " + Rights + "+ep " + unit.ShellQuote(program)
	}
	return r
}
