package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/contain"
)

// A loading is the programs of some points while the kernel checks them.
type loading struct {
	points []point
	wait   func() ([]*ebpf.Program, error) // one for each point, or none
}

// load has the kernel check and take programs, all at the same time.
func load(points []point, types *kernelTypes) loading {
	programs, errs := make([]*ebpf.Program, len(points)), make([]error, len(points))
	ended := make([]<-chan struct{}, len(points))
	for i, p := range points {
		errs[i] = errors.New("it did not end")
		ended[i] = contain.Go(contain.Part{Kind: contain.Goroutine, Name: "loading of a program"}, func() {
			programs[i], errs[i] = p.load(types)
		})
	}
	return loading{points: points, wait: func() ([]*ebpf.Program, error) {
		var failed []error
		for i, p := range points {
			<-ended[i]
			if errs[i] != nil {
				failed = append(failed, fmt.Errorf("load the program of %s: %w", p.name, errs[i]))
			}
		}
		if len(failed) == 0 {
			return programs, nil
		}
		for _, p := range programs {
			if p != nil {
				failed = append(failed, p.Close())
			}
		}
		return nil, errors.Join(failed...)
	}}
}

// load has the kernel take a program. One whose arguments have types is loaded by the number of its type, for
// which the library would make values of all types of the kernel; where that is refused the library says why.
func (p point) load(types *kernelTypes) (*ebpf.Program, error) {
	number := uint32(0)
	if p.typed && types != nil {
		number = types.points[p.name]
	}
	if !p.typed || number != 0 {
		if program, err := p.loadBy(number); err == nil {
			return program, nil
		}
	}
	return ebpf.NewProgram(p.spec())
}

// loadAttributes is union bpf_attr of BPF_PROG_LOAD, as far as it is used; see include/uapi/linux/bpf.h.
type loadAttributes struct {
	kind, instructions uint32
	code, license      unsafe.Pointer
	_                  [2]uint32 // log_level, log_size
	_                  uint64    // log_buf
	_                  [2]uint32 // kern_version, prog_flags
	name               [16]byte
	_                  uint32 // prog_ifindex
	attachType         uint32
	_                  [2]uint32 // prog_btf_fd, func_info_rec_size
	_                  uint64    // func_info
	_                  [2]uint32 // func_info_cnt, line_info_rec_size
	_                  uint64    // line_info
	_                  uint32    // line_info_cnt
	attachTo           uint32    // attach_btf_id
	_                  [2]uint32 // attach_prog_fd, core_relo_cnt
}

// loadBy loads a program by the number of the type of what runs at its point; 0 where its arguments have no
// types. Both processors read the low byte first.
func (p point) loadBy(number uint32) (*ebpf.Program, error) {
	spec := p.spec()
	var code bytes.Buffer
	if err := slices.Clone(spec.Instructions).Marshal(&code, binary.LittleEndian); err != nil {
		return nil, err
	}
	words := append([]byte(license), 0)
	attr := loadAttributes{
		kind: uint32(spec.Type), instructions: uint32(code.Len() / asm.InstructionSize),
		code: unsafe.Pointer(unsafe.SliceData(code.Bytes())), license: unsafe.Pointer(unsafe.SliceData(words)),
		attachType: uint32(spec.AttachType), attachTo: number,
	}
	copy(attr.name[:len(attr.name)-1], spec.Name)
	// The runtime's signals would have the kernel begin anew with its checking.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = math.MaxUint64
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &all, &before); err != nil {
		return nil, err
	}
	fd, _, errno := unix.Syscall(unix.SYS_BPF, unix.BPF_PROG_LOAD, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(&attr)
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err != nil {
		return nil, err
	}
	if errno != 0 {
		return nil, errno
	}
	return ebpf.NewProgramFromFD(int(fd)) // it is closed by exec
}
