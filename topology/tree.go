package topology

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxRead bounds a file that is read whole. /proc/net/tcp has 150 bytes a
// connection.
const maxRead = 16 << 20

// A tree is a directory that stands for /. Paths are absolute inside of it.
type tree struct{ root string }

// real reports whether the tree is this host's own.
func (t tree) real() bool { return t.root == "" || t.root == "/" }

// at returns the path as the system knows it.
func (t tree) at(path string) string {
	if t.real() {
		return path
	}
	return filepath.Join(t.root, path)
}

func (t tree) read(path string) ([]byte, error) {
	f, err := os.OpenFile(t.at(path), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hang the look
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: not a regular file", path)
	}
	return io.ReadAll(io.LimitReader(f, maxRead))
}

func (t tree) exists(path string) bool {
	_, err := os.Stat(t.at(path))
	return err == nil
}

func (t tree) isDir(path string) bool {
	st, err := os.Stat(t.at(path))
	return err == nil && st.IsDir()
}

func (t tree) has(path string) bool { return t.exists(path) }

// link returns where a symbolic link points to.
func (t tree) link(path string) (string, error) { return os.Readlink(t.at(path)) }

// names lists a directory, at most so many of it; all with -1.
func (t tree) names(path string, most int) ([]string, error) {
	f, err := os.Open(t.at(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(most)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// glob returns the files of a pattern, sorted; a name without * is one of its
// own, there or not.
func (t tree) glob(pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}
	}
	found, err := filepath.Glob(t.at(pattern))
	if err != nil {
		return nil
	}
	for i := range found {
		if !t.real() {
			found[i] = strings.TrimPrefix(found[i], strings.TrimRight(t.root, "/"))
		}
	}
	return found
}

// upward looks for a name in a directory and those above it.
func (t tree) upward(dir, name string) (found string, ok bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	for {
		if _, err := os.Stat(t.at(filepath.Join(dir, name))); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// denied reports whether an error is for lack of rights.
func denied(err error) bool { return os.IsPermission(err) }

// home is the home directory of the user who asks; a tree of its own has /home/user.
func (t tree) home() string {
	if !t.real() {
		return "/home/user"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return home
}
