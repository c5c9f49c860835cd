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
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of what is read: a host with a thousand containers has some ten thousand mounts.
const (
	mostBytes  = 8 << 20
	mostMounts = 20_000
	mostNames  = 16 // of one file that are looked at
	mostFiles  = 1024
)

// A mount is one line of a mount table.
type mount struct {
	device string // major:minor
	root   string // directory of the file system that is mounted
	point  string // where
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
		t.mounts = append(t.mounts, mount{string(f[2]), unescape(string(f[3])), unescape(string(f[4]))})
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

// namesOf returns the names that a file of another namespace may have in this one, at most
// mostNames.
func (t *Table) namesOf(there *Table, name string) (names []string) {
	if t == nil || there == nil {
		return nil
	}
	var of *mount // that the name lies in: of the deepest the last, which covers the others
	for i := range there.mounts {
		m := &there.mounts[i]
		if _, ok := below(m.point, name); ok && (of == nil || len(m.point) >= len(of.point)) {
			of = m
		}
	}
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
// itself where the file has it here; empty where the file has none. Tables may be nil.
func NameHere(here, there *Table, dir int, descriptor, name string) string {
	var open unix.Stat_t
	if unix.Fstatat(dir, descriptor, &open, 0) != nil || open.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	for _, candidate := range append([]string{name}, here.namesOf(there, name)...) {
		var found unix.Stat_t
		if unix.Lstat(candidate, &found) == nil && found.Dev == open.Dev && found.Ino == open.Ino {
			return candidate
		}
	}
	return ""
}

// OpenFiles returns the names on this host of the files that a process has open, by the names
// that it knows them by. Files without one are left out.
func OpenFiles(pid int) map[string]string {
	process := "/proc/" + strconv.Itoa(pid)
	here, _ := Read("/proc/self") // without one a name may still be the same
	there, _ := Read(process)
	dir, err := os.Open(process + "/fd")
	if err != nil {
		return nil
	}
	defer dir.Close()
	numbers, _ := dir.Readdirnames(mostFiles)
	out := map[string]string{}
	for _, n := range numbers {
		name, err := os.Readlink(process + "/fd/" + n)
		if err != nil || !strings.HasPrefix(name, "/") {
			continue
		}
		if at := NameHere(here, there, int(dir.Fd()), n, name); at != "" {
			out[name] = at
		}
	}
	return out
}
