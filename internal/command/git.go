package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// Git returns a call of git in the work tree that a directory lies in, without the
// command's own arguments. The configuration of a repository, and of its attributes,
// can name programs that git log and git diff run: monitors, filters, hooks. So root
// runs git as the owner of the repository, and not at all in one that several own.
func Git(dir string) (Spec, error) {
	spec := Spec{
		Path: "git", Trusted: true, Dir: dir,
		Args: []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"},
		Env:  []string{"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0"},
	}
	if os.Geteuid() != 0 {
		return spec, nil
	}
	owner, err := repositoryOwner(dir)
	if err != nil {
		return spec, err
	}
	if owner == 0 {
		return spec, nil
	}
	spec.As = &Identity{UID: owner, GID: groupOf(owner)}
	// Root's own configuration is not for the owner to read.
	spec.Env = append(spec.Env, "GIT_CONFIG_GLOBAL=/dev/null")
	return spec, nil
}

// repositoryOwner returns who owns the work tree that a directory lies in.
func repositoryOwner(dir string) (uid int, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	for top := dir; ; top = filepath.Dir(top) {
		uid, err := ownerOf(filepath.Join(top, ".git"))
		switch {
		case err == nil:
			if err := invited(uid, dir); err != nil {
				return 0, err
			}
			return uid, sameOwner(uid, top)
		case !errors.Is(err, fs.ErrNotExist):
			return 0, err
		case top == "/":
			return 0, fmt.Errorf("%s: not a git repository", dir)
		}
	}
}

// invited returns an error for a repository that another user has put above a directory
// that is not his, such as in /tmp.
func invited(uid int, dir string) error {
	if uid == 0 || os.Getenv("SUDO_UID") == strconv.Itoa(uid) {
		return nil
	}
	if own, err := ownerOf(dir); err != nil || own != uid {
		return errors.Join(err, &UntrustedError{dir, fmt.Sprintf("it lies in a repository of uid %d", uid)})
	}
	return nil
}

// sameOwner returns an error unless a user, or root, owns the parts of a repository that
// say what git runs, and for root's that no other may write there.
func sameOwner(uid int, top string) error {
	for _, part := range []string{"", ".git", ".git/config", ".git/objects", ".git/HEAD"} {
		path := filepath.Join(top, part)
		other, err := ownerOf(path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a worktree's .git is a file
		case err != nil && !errors.Is(err, syscall.ENOTDIR):
			return err
		case err == nil && other != uid && other != 0:
			return &UntrustedError{path, fmt.Sprintf("uid %d owns it, and uid %d the repository", other, uid)}
		case err == nil && uid == 0:
			if err := checkOwner(path); err != nil {
				return err
			}
		}
	}
	return nil
}

func ownerOf(path string) (uid int, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("owner of %s: not known", path)
	}
	return int(st.Uid), nil
}

// noGroup is the group of those who have none: Debian's nogroup, the kernel's overflow.
const noGroup = 65534

func groupOf(uid int) int {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		if gid, err := strconv.Atoi(u.Gid); err == nil {
			return gid
		}
	}
	return noGroup
}
