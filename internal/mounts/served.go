package mounts

import (
	"errors"
	"fmt"
	"slices"
	"sync"

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

// uniqueID is the number of a mount that no other one has until the host starts anew; 0 before
// Linux 6.8, where it is not known.
func uniqueID(fd int) uint64 {
	var st unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_MNT_ID_UNIQUE, &st)
	if err != nil || st.Mask&unix.STATX_MNT_ID_UNIQUE == 0 {
		return 0
	}
	return st.Mnt_id
}

// answering are mounts that were found to be no other user's, so that a log that is looked at each
// second does not have the mount table read each time.
var answering knownMounts

type knownMounts struct {
	mu  sync.Mutex
	ids []uint64 // few, and the last that were added
}

const mostKnown = 64

func (k *knownMounts) has(id uint64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return id != 0 && slices.Contains(k.ids, id)
}

func (k *knownMounts) add(id uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if id == 0 {
		return
	}
	if len(k.ids) == mostKnown {
		k.ids = slices.Delete(k.ids, 0, 1)
	}
	k.ids = append(k.ids, id)
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
	once := uniqueID(fd)
	if answering.has(once) {
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
				answering.add(once)
				return id, nil
			}
		}
	}
	return id, errUnknownMount
}
