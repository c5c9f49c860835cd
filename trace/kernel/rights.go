package kernel

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// license is that of the programs: the kernel gives the reading of memory to those under the GPL alone.
const license = "Dual MIT/GPL"

// ErrNoSockets is the error where the kernel does not show what sockets send and receive.
var ErrNoSockets = errors.New("the kernel does not show what sockets send and receive")

// ShowsSockets returns why what sockets send and receive cannot be watched.
func ShowsSockets() error {
	types, err := readKernelTypes()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoSockets, err)
	}
	return types.showSockets()
}

// showSockets returns why what sockets send and receive cannot be watched.
func (t *kernelTypes) showSockets() error {
	const oldest = "sock_recv_length" // it came with those that send
	if t.points[oldest] == 0 {
		return fmt.Errorf("%w: there is no tracepoint %s", ErrNoSockets, oldest)
	}
	return nil
}

// Permitted loads the smallest program there is, of the kind that is needed, and returns why
// that is refused.
func Permitted() error {
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.RawTracepoint, License: license,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	})
	if err != nil {
		return fmt.Errorf("load a tracing program: %w", err)
	}
	return errors.Join(p.Close())
}
