package foreign

import (
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// rights are what the kernel decides by when a process opens a file.
type rights struct {
	uid, gid int // of the file system
	groups   []int
	caps     uint64 // effective capabilities
}

// ownCapabilities returns the capabilities of this thread.
func ownCapabilities() (hdr unix.CapUserHeader, data [2]unix.CapUserData, err error) {
	hdr = unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	err = unix.Capget(&hdr, &data[0])
	return hdr, data, err
}

func effective(data [2]unix.CapUserData) uint64 {
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective)
}

// Privileged reports whether this process may do what an ordinary user may not.
func Privileged() bool { return privileged() }

// privileged reports whether this process may do what an ordinary user may not.
func privileged() bool {
	_, data, err := ownCapabilities()
	return err != nil || os.Geteuid() == 0 || effective(data) != 0
}

// adopt gives this thread the rights, for good: the thread must end with the call
// that it serves. It reports whether the kernel will now decide as it does for the
// process; when it cannot, for want of CAP_SETUID, the caller has to look at the mode
// bits itself.
//
// The functions of package unix change the calling thread alone; those of package
// syscall would change all.
func (r rights) adopt() (adopted bool, err error) {
	hdr, data, err := ownCapabilities()
	if err != nil {
		return false, fmt.Errorf("capabilities: %w", err)
	}
	own := effective(data)
	switch {
	case r.uid < 0 || r.gid < 0:
		return false, fmt.Errorf("the rights of the process are not known")
	case own == 0 && os.Geteuid() == r.uid:
		return true, nil // nothing to give up
	case own&(1<<unix.CAP_SETUID) == 0 || own&(1<<unix.CAP_SETGID) == 0:
		return false, nil
	}
	if err := unix.Setgroups(slices.Clone(r.groups)); err != nil {
		return false, fmt.Errorf("take on the groups of the process: %w", err)
	}
	_, _ = unix.SetfsgidRetGid(r.gid) // they return what was before; whether they failed is asked below
	_, _ = unix.SetfsuidRetUid(r.uid)
	gid, _ := unix.SetfsgidRetGid(-1)
	uid, _ := unix.SetfsuidRetUid(-1)
	if uid != r.uid || gid != r.gid {
		return false, fmt.Errorf("take on uid %d, gid %d of the process: refused", r.uid, r.gid)
	}
	data[0].Effective &= uint32(r.caps)
	data[1].Effective &= uint32(r.caps >> 32)
	if err := unix.Capset(&hdr, &data[0]); err != nil {
		return false, fmt.Errorf("give up capabilities: %w", err)
	}
	return true, nil
}

// allow reports whether the mode bits let the rights read a file or pass a directory.
// It knows no access control lists, and is asked only where the kernel cannot be.
func (r rights) allow(st *unix.Stat_t) bool {
	need := uint32(4)
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		need = 1
	}
	bits := st.Mode
	switch {
	case r.uid == 0 && r.caps&(1<<unix.CAP_DAC_OVERRIDE) != 0:
		return true
	case int(st.Uid) == r.uid:
		bits >>= 6
	case int(st.Gid) == r.gid || slices.Contains(r.groups, int(st.Gid)):
		bits >>= 3
	}
	return bits&need != 0
}

// list reports whether the mode bits let the rights list a directory.
func (r rights) list(st *unix.Stat_t) bool {
	as := *st
	as.Mode = st.Mode&^unix.S_IFMT | unix.S_IFREG // listing is reading
	return r.allow(&as)
}
