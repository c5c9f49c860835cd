package config

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// A caller is the user for whom kasoku runs, whose own a kasoku.toml has to be.
type caller struct {
	uid            int // effective
	sudoUID        int // who called sudo; -1 without
	sudoPrivateGID int // his group, when it is his alone; -1 without
}

func asker() caller {
	c := caller{uid: os.Geteuid(), sudoUID: -1, sudoPrivateGID: -1}
	if n, err := strconv.Atoi(os.Getenv("SUDO_UID")); err == nil && c.uid == 0 {
		c.sudoUID = n
		if g, err := strconv.Atoi(os.Getenv("SUDO_GID")); err == nil && g == n {
			c.sudoPrivateGID = g
		}
	}
	return c
}

// checkTrust refuses root a file that another user may have written: its commands would run as
// root, and a file in a directory above is found without being named. Others run it with their
// own rights.
func checkTrust(f *os.File, path string, who caller) error {
	if who.uid != 0 {
		return nil
	}
	for _, stat := range []func() (os.FileInfo, error){f.Stat, func() (os.FileInfo, error) { return os.Lstat(path) }} {
		info, err := stat()
		if err != nil {
			return err
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return &Error{Path: path, Text: "its owner is not known"}
		}
		if why := who.doubt(st); why != "" {
			return &Error{
				Path: path, Text: "not read as root: " + why,
				hint: "it may name commands, which would run as root; if it is yours: chown root " + path +
					" and chmod go-w, or run kasoku as its owner",
			}
		}
	}
	return nil
}

// doubt returns why a file, or the link to it, is not the caller's word; empty when it is.
func (c caller) doubt(st *syscall.Stat_t) string {
	owner := int(st.Uid)
	link := st.Mode&syscall.S_IFMT == syscall.S_IFLNK // its mode says nothing
	switch {
	case owner != 0 && owner != c.uid && owner != c.sudoUID:
		return fmt.Sprintf("it belongs to uid %d", owner)
	case !link && st.Mode&0o002 != 0:
		return fmt.Sprintf("everybody may write to it, mode %#o", st.Mode&0o777)
	case !link && st.Mode&0o020 != 0 && st.Gid != 0 && int(st.Gid) != c.sudoPrivateGID:
		return fmt.Sprintf("group %d may write to it, mode %#o", st.Gid, st.Mode&0o777)
	}
	return ""
}
