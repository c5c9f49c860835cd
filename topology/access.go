package topology

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/unit"
)

// A Who is the user as whom this process runs.
type Who struct {
	Name   string
	UID    int
	Groups []int // of this process
	Listed []int // that the user has after logging in again
}

// Me returns the user of this process.
func Me() Who {
	w := Who{UID: os.Geteuid(), Name: "uid " + strconv.Itoa(os.Geteuid())}
	w.Groups, _ = os.Getgroups()
	w.Groups = append(w.Groups, os.Getegid())
	u, err := user.Current()
	if err != nil {
		return w
	}
	w.Name = u.Username
	ids, _ := u.GroupIds()
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil {
			w.Listed = append(w.Listed, n)
		}
	}
	return w
}

// A FileRight says whether a file can be read and, when not, the reason and the commands that
// would grant it.
type FileRight struct {
	Path    string
	Read    bool
	Missing bool     // there is no such file
	Why     string   // when it cannot be read
	Grant   []string // lines for a shell of root
	Cost    string   // what they give away
}

// CheckFile asks the kernel whether this process may read a file, or reach what
// is in a directory.
//
// Source: faccessat2(2) with AT_EACCESS. What refuses is found by the modes on the
// way, which leaves out access control lists that take a right away.
func CheckFile(path string, who Who) FileRight {
	out := FileRight{Path: path}
	err := pathwalk.Look(path, func(fd int) error {
		var st unix.Stat_t
		need := uint32(unix.R_OK)
		if err := unix.Fstat(fd, &st); err == nil && pathwalk.IsDir(&st) {
			need = unix.X_OK
		}
		return unix.Faccessat(unix.AT_FDCWD, pathwalk.Name(fd), need, unix.AT_EACCESS)
	})
	refused, at := new(pathwalk.RefusedError), new(fs.PathError)
	switch {
	case errors.As(err, &refused):
		out.Why = refused.Why
	case err == nil:
		out.Read = true
	case errors.Is(err, fs.ErrNotExist):
		out.Missing = true
		out.Why = "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		out.explain(refusals(steps(path), who), who)
	case errors.As(err, &at):
		out.Why = at.Err.Error()
	default:
		out.Why = err.Error()
	}
	return out
}

// silentAt returns an error where a path of this host leads to a file system of another user's,
// which is not asked.
func silentAt(path string) error {
	refused := new(pathwalk.RefusedError)
	if _, err := pathwalk.Stat(path); errors.As(err, &refused) {
		return refused
	}
	return nil
}

// A step is one part of the way to a file.
type step struct {
	path     string
	dir      bool // has to be passed; else it has to be read
	mode     fs.FileMode
	uid, gid int
}

// steps returns the way to a file as far as it can be seen.
func steps(path string) []step {
	var out []step
	for i := range len(path) {
		if i > 0 && path[i] != '/' && i != len(path)-1 {
			continue
		}
		part := path[:max(i, 1)]
		if i == len(path)-1 {
			part = path
		}
		st, err := pathwalk.Stat(part)
		if err != nil {
			break
		}
		info := step{path: part, dir: pathwalk.IsDir(&st), uid: int(st.Uid), gid: int(st.Gid)}
		info.mode = fs.FileMode(st.Mode & 0o777)
		if info.dir {
			info.mode |= fs.ModeDir
		}
		out = append(out, info)
	}
	return out
}

// refusals returns the steps that the modes refuse to a user.
func refusals(way []step, who Who) []step {
	return slices.DeleteFunc(slices.Clone(way), func(s step) bool {
		bits := s.mode.Perm()
		switch {
		case s.uid == who.UID:
			bits >>= 6
		case slices.Contains(who.Groups, s.gid):
			bits >>= 3
		}
		return bits&s.needs() != 0
	})
}

// needs is the bit that the step takes: passing through, or reading.
func (s step) needs() fs.FileMode {
	if s.dir {
		return 1
	}
	return 4
}

// explain describes what refuses and what would help: a group that may read already,
// else an access control list.
func (f *FileRight) explain(refused []step, who Who) {
	if len(refused) == 0 {
		f.Why = "the system refuses it; the modes of the file and its directories do not say why"
		return
	}
	first := refused[0]
	what := "it"
	if first.dir {
		what = "its directory " + first.path
	}
	group := groupName(first.gid)
	f.Why = fmt.Sprintf("%s is closed to %s: %s %s %s", what, who.Name, first.mode, userName(first.uid), group)
	byGroup := first.gid != 0 && !slices.ContainsFunc(refused, func(s step) bool {
		return s.gid != first.gid ||
			s.mode.Perm()>>3&s.needs() == 0
	})
	switch {
	case byGroup && slices.Contains(who.Listed, first.gid):
		f.Grant = []string{"newgrp " + group}
		f.Why += "; " + who.Name + " is in group " + group + " from the next login on"
	case byGroup:
		f.Grant = []string{"usermod -aG " + group + " " + unit.ShellQuote(who.Name)}
		f.Cost = who.Name + " may read all that group " + group + " may, from the next login on"
	default:
		f.Cost = who.Name + " may read this file"
		for _, s := range refused {
			if s.dir {
				f.Grant = append(f.Grant, "setfacl -m u:"+unit.ShellQuote(who.Name)+":x "+unit.ShellQuote(s.path))
			}
		}
		f.Grant = append(f.Grant, "setfacl -m u:"+unit.ShellQuote(who.Name)+":r "+unit.ShellQuote(f.Path))
	}
}

func groupName(gid int) string {
	if g, err := user.LookupGroupId(strconv.Itoa(gid)); err == nil {
		return g.Name
	}
	return strconv.Itoa(gid)
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// FreeBytes returns how many bytes an ordinary user may still write to the file system on
// which a path lies, or would lie.
func FreeBytes(path string) (uint64, error) {
	for {
		st, err := pathwalk.Statfs(path)
		if err == nil {
			return st.Bavail * uint64(st.Bsize), nil
		}
		parent := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || parent == path {
			return 0, fmt.Errorf("free space of %s: %w", path, err)
		}
		path = parent
	}
}
