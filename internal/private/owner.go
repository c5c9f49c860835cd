package private

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// SudoUser returns the user and group who called sudo; false when this process is not
// root, or not below sudo. Only root is asked for the variables: as another user they
// are a text that somebody has set.
func SudoUser() (uid, gid int, ok bool) {
	if os.Geteuid() != 0 {
		return 0, 0, false
	}
	uid, okUser := parseID(os.Getenv("SUDO_UID"))
	gid, okGroup := parseID(os.Getenv("SUDO_GID"))
	return uid, gid, okUser && okGroup && uid != 0
}

// parseID reads the number of a user or group. The largest one is none: chown(2)
// takes it for "leave as it is".
func parseID(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	return int(n), err == nil && n != 1<<32-1
}

// owner returns to whom a new file in an open directory belongs; false when it stays
// with this process's user.
func (k Kind) owner(parent int) (uid, gid int, ok bool) {
	if uid, gid, ok = SudoUser(); !ok || k == Output {
		return uid, gid, ok
	}
	var st unix.Stat_t
	err := unix.Fstat(parent, &st)
	return uid, gid, err == nil && int(st.Uid) == uid
}

// Mine reports whether a file is of root, of this process's user, or of the one who
// called sudo.
func Mine(st fs.FileInfo) bool {
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	by, _, sudo := SudoUser()
	owner := int(sys.Uid)
	return owner == 0 || owner == os.Geteuid() || sudo && owner == by
}
