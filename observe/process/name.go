package process

import (
	"bytes"
	"os"
	"strconv"

	"github.com/kasoku/kasoku/observe/procfile"
)

// commMax is the longest name that the kernel keeps: TASK_COMM_LEN less the
// final zero.
const commMax = 15

// instance returns "PID NAME".
func (s *Source) instance(p *process) string {
	if p.instance == "" {
		name := p.comm
		if len(name) == commMax && p.stat.flags&kthreadFlag == 0 {
			if cmdline, err := os.ReadFile(s.path(p.pid, "cmdline")); err == nil {
				name = fullName(name, cmdline)
			}
		}
		p.instance = strconv.FormatUint(p.pid, 10) + " " + procfile.Printable(name)
	}
	return p.instance
}

// fullName returns the base name of the command line's first word when the
// kernel's name is its cut beginning, else the kernel's name.
func fullName(comm, cmdline []byte) []byte {
	arg, _, _ := bytes.Cut(cmdline, []byte{0})
	base := arg[bytes.LastIndexByte(arg, '/')+1:]
	if bytes.HasPrefix(base, comm) {
		return base
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
