// Package mounts finds the name that a file of a container has on this host.
//
// The one idea: what a process in a mount namespace of its own sees at /var/log/nginx may be a
// directory of this host, bound there, or a file system that is mounted here, too, as that of a
// container's image is. Both sides' mount tables name the file system and the directory of it,
// so one name leads to the other. A name is believed only where the file there is the one that
// the process has open: the same device and inode.
//
// Source: proc_pid_mountinfo(5).
package mounts

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of what is read: a host with a thousand containers has some ten thousand mounts.
const (
	mostBytes  = 8 << 20
	mostMounts = 20_000
	mostNames  = 16   // of one file that are looked at
	mostFiles  = 1024 // of a process that are looked at, and of its descriptors
	mostOpen   = 65_536
)

// A mount is one line of a mount table.
type mount struct {
	device string // major:minor
	root   string // directory of the file system that is mounted
	point  string // where
	remote bool   // what is asked of it may never be answered

	id      uint64
	strange string // who serves it, where that is neither root nor who asks: "uid 1001"
}

// remotes begin the names of file systems whose answers come from another host or from a
// program, and of those that mount such when they are asked.
var remotes = []string{"fuse", "nfs", "cifs", "smb", "9p", "ceph", "gluster", "lustre", "afs", "coda", "ocfs", "autofs", "virtiofs"}

func isRemote(kind string) bool {
	return slices.ContainsFunc(remotes, func(begin string) bool { return strings.HasPrefix(kind, begin) })
}

// stranger returns which user serves a file system by a program of his own, as the last field of
// its line says: "rw,user_id=1001,group_id=1001,allow_other". Of root and who asks it is empty.
//
// Source: mount.fuse(8), user_id.
func stranger(kind, options string) string {
	if !strings.HasPrefix(kind, "fuse") {
		return ""
	}
	for option := range strings.SplitSeq(options, ",") {
		if uid, ok := strings.CutPrefix(option, "user_id="); ok && uid != "0" && uid != strconv.Itoa(os.Geteuid()) {
			return "uid " + uid
		}
	}
	return ""
}

// A Table is the mount table of one namespace. It is immutable; nil has no mounts.
type Table struct{ mounts []mount }

// Read reads the mount table of a process by its directory, /proc/PID.
func Read(process string) (*Table, error) {
	f, err := os.Open(process + "/mountinfo")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Parse(io.LimitReader(f, mostBytes))
}

var errManyMounts = errors.New("too many mounts")

// Parse reads the lines of a mount table, such as
//
//	36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
func Parse(r io.Reader) (*Table, error) {
	t := &Table{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := bytes.Fields(lines.Bytes())
		if len(f) < 6 {
			return nil, fmt.Errorf("mount table: %.100q: want 6 fields", lines.Bytes())
		}
		if len(t.mounts) == mostMounts {
			return nil, errManyMounts
		}
		m := mount{device: string(f[2]), root: unescape(string(f[3])), point: unescape(string(f[4])), remote: true}
		if i := slices.IndexFunc(f, func(b []byte) bool { return string(b) == "-" }); i > 0 && i+1 < len(f) {
			m.remote = isRemote(string(f[i+1]))
			m.strange = stranger(string(f[i+1]), string(f[len(f)-1]))
		}
		m.id, _ = strconv.ParseUint(string(f[0]), 10, 64) // 0: no mount has it
		t.mounts = append(t.mounts, m)
	}
	return t, lines.Err()
}

// unescape replaces \040 and its like, which stand for blanks and backslashes.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// below returns what of a path is below a directory, with a slash before it or empty.
func below(dir, name string) (rest string, ok bool) {
	if dir == "/" {
		return name, strings.HasPrefix(name, "/")
	}
	rest, ok = strings.CutPrefix(name, dir)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// of returns the mount that a name lies in: of the deepest the last, which covers the others.
func (t *Table) of(name string) (of *mount) {
	for i := range t.mounts {
		m := &t.mounts[i]
		if _, ok := below(m.point, name); ok && (of == nil || len(m.point) >= len(of.point)) {
			of = m
		}
	}
	return of
}

// namesOf returns the names that a file of another namespace may have in this one, at most
// mostNames.
func (t *Table) namesOf(there *Table, name string) (names []string) {
	if t == nil || there == nil {
		return nil
	}
	of := there.of(name)
	if of == nil {
		return nil
	}
	rest, _ := below(of.point, name)
	inside := path.Join(of.root, rest)
	for i := range t.mounts {
		m := &t.mounts[i]
		if m.device != of.device {
			continue
		}
		if rest, ok := below(m.root, inside); ok {
			if names = append(names, path.Join(m.point, rest)); len(names) == mostNames {
				break
			}
		}
	}
	return names
}

// NameHere returns the name on this host of a file that a process has open: descriptor, looked
// up below dir, is its link /proc/PID/fd/N, and name what that link reads. It is the name
// itself where the file has it here; empty where the file has none. The tables are one and the
// same for a process of this mount namespace.
//
// No file system is asked that may not answer: whoever waits for one of a user's own (FUSE) does
// not end when he is killed. A file there has its name in this namespace, and none of another.
// For the same reason no symbolic link is followed, which may lead there: the kernel's name of an
// open file has none.
func NameHere(here, there *Table, dir int, descriptor, name string) string {
	open, ok := identify(dir, descriptor, 0)
	if !ok || open.mode&unix.S_IFMT != unix.S_IFREG || here == nil {
		return ""
	}
	for _, candidate := range append([]string{name}, here.namesOf(there, name)...) {
		m := here.of(candidate)
		switch {
		case m == nil:
		case here.isRemote(candidate):
			if here == there && m.strange == "" {
				return candidate
			}
		case m.has(candidate, open):
			return candidate
		}
	}
	return ""
}

// isRemote reports whether a mount that may not answer lies on the way to a name. One that is
// covered by another counts, too: who walks by may be asked to look it up.
func (t *Table) isRemote(name string) bool {
	return slices.ContainsFunc(t.mounts, func(m mount) bool {
		_, on := below(m.point, name)
		return on && m.remote
	})
}

// has reports whether a name in a mount is that of a file. What has been mounted on the way since
// the table was read is not entered, nor is a link.
func (m *mount) has(name string, file identity) bool {
	rest, _ := below(m.point, name)
	point, err := unix.Openat2(unix.AT_FDCWD, m.point, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		found, ok := identify(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW)
		return errors.Is(err, unix.ENOSYS) && ok && found == file // Linux < 5.6
	}
	defer func() { _ = unix.Close(point) }() // only read
	if rest = strings.TrimPrefix(rest, "/"); rest == "" {
		found, ok := identify(point, "", unix.AT_EMPTY_PATH)
		return ok && found == file
	}
	fd, err := unix.Openat2(point, rest, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV})
	if err != nil {
		return false
	}
	defer func() { _ = unix.Close(fd) }()
	found, ok := identify(fd, "", unix.AT_EMPTY_PATH)
	return ok && found == file
}

// An identity is which file it is, as far as that is known without a word to its file system.
type identity struct {
	mode         uint16
	major, minor uint32
	inode        uint64
}

func identify(dir int, name string, flags int) (identity, bool) {
	var st unix.Statx_t
	err := unix.Statx(dir, name, flags|unix.AT_STATX_DONT_SYNC|unix.AT_NO_AUTOMOUNT, unix.STATX_TYPE|unix.STATX_INO, &st)
	return identity{st.Mode, st.Dev_major, st.Dev_minor, st.Ino}, err == nil
}

// OpenFiles returns the names on this host of the files that a process has open, by the names
// that it knows them by. Files without one are left out.
func OpenFiles(pid int) map[string]string {
	open, _ := ReadOpen(pid) // what cannot be seen has no name
	return open.Names
}

// An Open is which regular files a process has open.
type Open struct {
	Names map[string]string // on this host, by the names that the process knows; those that have one
	files map[identity]bool
}

// Has reports whether a file is one of them.
func (o Open) Has(device, inode uint64) bool {
	return o.files[identity{unix.S_IFREG, unix.Major(device), unix.Minor(device), inode}]
}

var errManyFiles = errors.New("too many open files")

// ReadOpen returns what a process has open. With an error it is not all, as where the process is
// another user's.
func ReadOpen(pid int) (out Open, err error) {
	out = Open{Names: map[string]string{}, files: map[identity]bool{}}
	process := "/proc/" + strconv.Itoa(pid)
	here, err := Read("/proc/self")
	if err != nil {
		return out, err
	}
	there, _ := Read(process) // without one a name may still be the same
	dir, err := os.Open(process + "/fd")
	if err != nil {
		return out, err
	}
	defer dir.Close()
	numbers, err := dir.Readdirnames(mostOpen)
	if errors.Is(err, io.EOF) { // none at all
		err = nil
	}
	if len(numbers) == mostOpen {
		err = cmp.Or(err, errManyFiles)
	}
	looked := 0
	for _, n := range numbers {
		name, gone := os.Readlink(process + "/fd/" + n)
		if gone != nil || !strings.HasPrefix(name, "/") {
			continue
		}
		if looked++; looked > mostFiles {
			return out, errManyFiles
		}
		if file, ok := identify(int(dir.Fd()), n, 0); ok && file.mode&unix.S_IFMT == unix.S_IFREG {
			file.mode = unix.S_IFREG
			out.files[file] = true
		}
		if at := NameHere(here, there, int(dir.Fd()), n, name); at != "" {
			out.Names[name] = at
		}
	}
	return out, err
}
