package liar

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/procstat"
)

// EndlessArgument is the argument of a liar whose command line is endless.
const EndlessArgument = "--endless"

// endlessBytes is what an endless command line holds: more than any reader may take, and not
// so much that a test host ends with one that takes it all.
const endlessBytes = 2 << 30

// A memoryMap is struct prctl_mm_map of the kernel.
//
// Kernel: include/uapi/linux/prctl.h.
type memoryMap struct {
	startCode, endCode, startData, endData, startBrk, brk, startStack uint64
	argStart, argEnd, envStart, envEnd                                uint64
	auxv                                                              uint64
	auxvSize, exeFD                                                   uint32
}

// Endless gives this process a command line and an environment of 2 GiB each, which takes no
// right and no memory: the kernel reads them where the process says that they lie.
//
// Source: prctl(2), PR_SET_MM_MAP.
func Endless() error {
	text, err := unix.Mmap(-1, 0, endlessBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("memory of a command line: %w", err)
	}
	copy(text, bytes.Join([][]byte{[]byte(os.Args[0]), bytes.Repeat([]byte("A"), 1<<20)}, nil))
	return ShowMemory(text)
}

// ShowMemory makes some memory the command line and the environment of this process.
func ShowMemory(text []byte) error {
	line, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return err
	}
	m := memoryMap{exeFD: math.MaxUint32}
	for number, to := range map[int]*uint64{26: &m.startCode, 27: &m.endCode, 28: &m.startStack, 45: &m.startData,
		46: &m.endData, 47: &m.startBrk} {
		word, _ := procstat.Field(line, number)
		if _, err := fmt.Sscan(string(word), to); err != nil {
			return fmt.Errorf("field %d of /proc/self/stat: %w", number, err)
		}
	}
	m.brk = m.startBrk
	m.argStart = uint64(uintptr(unsafe.Pointer(&text[0])))
	m.argEnd = m.argStart + uint64(len(text))
	m.envStart, m.envEnd = m.argStart, m.argEnd
	if err := unix.Prctl(unix.PR_SET_MM, unix.PR_SET_MM_MAP, uintptr(unsafe.Pointer(&m)), unsafe.Sizeof(m), 0); err != nil {
		return fmt.Errorf("PR_SET_MM_MAP: %w", err)
	}
	return nil
}
