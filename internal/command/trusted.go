package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// trustedDirs is where root looks for programs, whatever $PATH says.
var trustedDirs = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// StandIns are directories that [TrustedPath] looks in first and does not check. Only
// tests set it, before anything runs: a stand-in for systemctl lies in a temporary
// directory.
var StandIns []string

// An UntrustedError reports that a program was found and is not run.
type UntrustedError struct {
	Path string // program or directory that somebody else may change
	Why  string
}

// Error returns "do not run PATH: why".
func (e *UntrustedError) Error() string { return fmt.Sprintf("do not run %q: %s", e.Path, e.Why) }

// Hint returns what to do about it.
func (e *UntrustedError) Hint() string {
	return "root runs only what root alone may change: chown root, chmod go-w, the directories above too"
}

// TrustedPath finds a program that kasoku runs for its own ends, not by the user's
// word. For root it looks in the system's directories alone, and takes only a regular
// file that root owns and no other user may replace or change, nor a directory on the
// way to it. For others it is [LookPath]: what is on their PATH runs with their own
// rights.
func TrustedPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return "", &UntrustedError{name, "a name is looked up, a path is not"}
	}
	for _, dir := range StandIns {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	if os.Geteuid() != 0 {
		return LookPath(name)
	}
	var refused error
	for _, dir := range trustedDirs {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		err := checkProgram(path)
		if err == nil {
			return path, nil
		}
		if refused == nil {
			refused = err
		}
	}
	if refused != nil {
		return "", refused
	}
	return "", fmt.Errorf("look up %q: %w", name, exec.ErrNotFound)
}

// maxLinks is how many symbolic links may lead to a program; the kernel's own limit.
const maxLinks = 40

// checkProgram reports whether a path leads to a program of root's by directories and
// links of root's.
func checkProgram(path string) error {
	left := strings.Split(strings.Trim(path, "/"), "/")
	at := "/"
	if err := checkOwner(at); err != nil {
		return err
	}
	for links := 0; len(left) > 0; {
		at = filepath.Join(at, left[0])
		left = left[1:]
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			// Its directory is root's, so root made it.
			to, err := os.Readlink(at)
			if links++; err != nil || links > maxLinks {
				return errors.Join(err, &UntrustedError{at, "it leads nowhere"})
			}
			left = append(strings.Split(strings.Trim(to, "/"), "/"), left...)
			at = filepath.Dir(at)
			if filepath.IsAbs(to) {
				at = "/"
			}
			continue
		case len(left) > 0 && !info.IsDir():
			return &UntrustedError{at, "it is no directory"}
		case len(left) == 0 && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0):
			return &UntrustedError{at, "it is no program"}
		}
		if err := checkOwner(at); err != nil {
			return err
		}
	}
	return nil
}

// checkOwner reports whether root owns what lies at a path and no other may write
// to it.
func checkOwner(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return &UntrustedError{path, "its owner is not known"}
	case st.Uid != 0:
		return &UntrustedError{path, fmt.Sprintf("uid %d owns it", st.Uid)}
	case st.Mode&0o002 != 0 || st.Mode&0o020 != 0 && st.Gid != 0:
		return &UntrustedError{path, fmt.Sprintf("others than root may write to it, mode %#o", info.Mode().Perm())}
	}
	return nil
}

// lookPath finds the program of a spec.
func (s *Spec) lookPath() (string, error) {
	if s.Trusted {
		return TrustedPath(s.Path)
	}
	return LookPath(s.Path)
}

// An Identity is whom a child runs as. It has no supplementary groups.
type Identity struct{ UID, GID int }

// trustedEnv is the environment of a child that [Spec.Trusted] starts: what a shell
// of the system would set, nothing of the caller's.
func (s *Spec) trustedEnv() []string {
	home := "/"
	if s.As == nil {
		if h, ok := os.LookupEnv("HOME"); ok {
			home = h
		}
	}
	path := strings.Join(trustedDirs, ":")
	if os.Geteuid() != 0 || len(StandIns) > 0 {
		path = os.Getenv("PATH")
	}
	return append([]string{"PATH=" + path, "HOME=" + home, "LC_ALL=C"}, s.Env...)
}
