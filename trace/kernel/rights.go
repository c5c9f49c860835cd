package kernel

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// license is that of the programs: the kernel gives the reading of memory to those under the GPL alone.
const license = "Dual MIT/GPL"

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
