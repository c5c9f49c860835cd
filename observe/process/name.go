package process

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/observe/procfile"
)

// commMax is the longest name that the kernel keeps: TASK_COMM_LEN less the
// final zero.
const commMax = 15

// A name is how a process is called.
type name struct {
	comm     []byte
	renames  int
	instance string // "PID NAME", made when first needed
}

// change takes over the name that the kernel has, and reports whether it was new. A
// process gets one by exec too; one that goes on changing its name, as a progress
// display, keeps an early one, so that its series hold together.
func (n *name) change(comm []byte, kernel bool) bool {
	const renamesMax = 3
	if kernel {
		comm = withoutWork(comm)
	}
	if n.renames > 0 && bytes.Equal(comm, n.comm) || n.renames > renamesMax {
		return false
	}
	n.comm = append(n.comm[:0], comm...)
	n.renames++
	n.instance = ""
	return true
}

// instance returns "PID NAME".
func (p *process) instance(r *reader) string {
	if p.name.instance == "" {
		name := p.name.comm
		if len(name) == commMax && !p.stat.Kernel() {
			if args, err := foreign.Arguments(r.root, int(p.pid)); err == nil {
				name = fullName(name, args[0])
			}
		}
		p.name.instance = strconv.FormatUint(p.pid, 10) + " " + procfile.Printable(name)
	}
	return p.name.instance
}

// nameMax is NAME_MAX of the kernel: no program has a longer name. A command line may hold
// any.
const nameMax = 255

// fullName returns the base name of the command line's first word when the
// kernel's name is its cut beginning, else the kernel's name.
func fullName(comm []byte, arg string) []byte {
	base := arg[strings.LastIndexByte(arg, '/')+1:]
	if strings.HasPrefix(base, string(comm)) && len(base) <= nameMax {
		return []byte(base)
	}
	return comm
}

// withoutWork cuts off what a kernel worker is busy with: the kernel appends it
// to the name, as in kworker/0:1-events, and changes it all the time.
func withoutWork(comm []byte) []byte {
	if !bytes.HasPrefix(comm, []byte("kworker/")) || bytes.HasPrefix(comm, []byte("kworker/R-")) {
		return comm // R: a rescuer has one queue for life
	}
	if i := bytes.IndexAny(comm, "+-"); i >= 0 {
		return comm[:i]
	}
	return comm
}
