package mounts

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// A SilentError reports that a file lies in a file system that another user serves by a program
// of his own (FUSE). It may never answer, and who waits for it does not end when he is killed.
type SilentError struct{ By string }

// Error returns "it lies in a file system that uid 1001 serves, which may never answer".
func (e *SilentError) Error() string {
	return "it lies in a file system that " + e.By + " serves, which may never answer"
}

var errUnknownMount = errors.New("its file system is in no mount table")

// An ID is which mount of which file system something lies in. The zero value is none.
type ID struct {
	major, minor uint32
	mount        uint64
}

// CheckServed returns a [*SilentError] for what a descriptor leads to, opened with O_PATH, unless
// its file system is one of the kernel's, of root's or of who asks, or known is its mount, which
// the result is. The file system is not asked. Processes are directories such as /proc/PID, in
// whose mount tables it is looked for: that of one with a root of its own may lack the mount.
func CheckServed(fd int, known ID, processes ...string) (ID, error) {
	var st unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE|unix.STATX_MNT_ID, &st)
	if err != nil {
		return ID{}, fmt.Errorf("look at its mount: %w", err)
	}
	id := ID{st.Dev_major, st.Dev_minor, st.Mnt_id} // no mount before Linux 5.8
	if id == known || id.major != 0 {               // a disk of the host's
		return id, nil
	}
	device := fmt.Sprintf("0:%d", id.minor) // that of btrfs and overlayfs may be none of the table's
	for _, process := range processes {
		t, err := Read(process)
		if err != nil {
			continue
		}
		for i := range t.mounts {
			switch m := &t.mounts[i]; {
			case m.id != id.mount && m.device != device:
			case m.strange != "":
				return id, &SilentError{m.strange}
			default:
				return id, nil
			}
		}
	}
	return id, errUnknownMount
}
