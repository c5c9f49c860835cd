package confine

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Held returns the capabilities in force of this process.
func Held() (Set, error) {
	data, err := capabilities()
	if err != nil {
		return 0, err
	}
	return Set(data[0].Effective) | Set(data[1].Effective)<<32, nil
}

// capabilities returns the sets of the calling thread, 32 to an element.
func capabilities() (data [2]unix.CapUserData, err error) {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&head, &data[0]); err != nil {
		return data, fmt.Errorf("read capabilities: %w", err)
	}
	return data, nil
}

// Options configure what is kept.
type Options struct {
	Keep     Set  // capabilities that are kept, as far as they are held
	Programs bool // programs may be started; they get no more than is kept
}

// Drop gives up all other capabilities for good, on all threads, and has the kernel
// refuse the calls of [denied]. A process that holds no capability is left as it is.
//
// What was started before keeps what it has. A program with CGO cannot do it: the
// error is an [errors.ErrUnsupported].
func Drop(o Options) error {
	held, err := Held()
	if err != nil || held == 0 || held&^o.Keep == 0 && filtered() {
		return err
	}
	if err := setAll("no new privileges", unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return err
	}
	if held.Has(unix.CAP_SETPCAP) {
		if err := dropBounds(o.Keep); err != nil {
			return err
		}
	}
	if err := setAll("clear ambient capabilities", unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL); err != nil {
		return err
	}
	if err := setCapabilities(held & o.Keep); err != nil {
		return err
	}
	return denyCalls(o.Programs)
}

// filtered reports whether a filter of calls is installed: what is given up once more
// must not add another.
func filtered() bool {
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && mode == unix.SECCOMP_MODE_FILTER
}

// dropBounds takes all but some capabilities out of the bounding set: a program that is
// started as root gets no others.
func dropBounds(keep Set) error {
	for c := range 64 {
		in, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0)
		if err != nil {
			return nil // the kernel knows no further ones
		}
		if in == 1 && !keep.Has(c) {
			if err := setAll("bound capabilities", unix.PR_CAPBSET_DROP, uintptr(c)); err != nil {
				return err
			}
		}
	}
	return nil
}

// setAll is prctl(2) on all threads.
func setAll(what string, option, arg uintptr) error {
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, option, arg, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("%s: %w", what, errno)
	}
	return nil
}

// setCapabilities is capset(2) on all threads.
func setCapabilities(keep Set) error {
	head := &unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	data := &[2]unix.CapUserData{}
	for i := range data {
		bits := uint32(keep >> (32 * i))
		data[i] = unix.CapUserData{Effective: bits, Permitted: bits}
	}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(head)),
		uintptr(unsafe.Pointer(data)), 0)
	if errno != 0 {
		return fmt.Errorf("give up capabilities: %w", errno)
	}
	return nil
}
