package topology

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
)

// mostOption bounds one file that a service names.
const mostOption = 1 << 20

// files is how the files that a service names are read.
type files interface {
	read(path string) ([]byte, error)
	glob(pattern string) []string
	isDir(path string) bool
	has(path string) bool // a file or a directory
	upward(dir, name string) (found string, ok bool)
}

var (
	_ files = tree{}
	_ files = ownFiles{}
)

// ownFiles reads files in the file system of a process and with its rights.
type ownFiles struct {
	ctx context.Context
	p   *foreign.Process
}

func (o ownFiles) read(path string) ([]byte, error) { return o.p.Read(o.ctx, path, mostOption) }

func (o ownFiles) glob(pattern string) []string {
	found, _ := o.p.Glob(o.ctx, pattern) // what cannot be listed is not there for it
	return found
}

func (o ownFiles) isDir(path string) bool {
	dir, err := o.p.IsDir(o.ctx, path)
	return err == nil && dir
}

func (o ownFiles) has(path string) bool {
	_, err := o.p.IsDir(o.ctx, path)
	return err == nil
}

func (o ownFiles) upward(dir, name string) (found string, ok bool) {
	for ; strings.HasPrefix(dir, "/"); dir = parentOf(dir) {
		if o.has(below(dir, name)) {
			return dir, true
		}
		if dir == "/" {
			break
		}
	}
	return "", false
}

func parentOf(dir string) string {
	if i := strings.LastIndexByte(dir, '/'); i > 0 {
		return dir[:i]
	}
	return "/"
}

// filesOf is how the files of a service are read.
func (v *view) filesOf(s *subject) files {
	if s.held != nil {
		return ownFiles{v.ctx, s.held}
	}
	return v.tree
}

// elsewhere reports whether a service sees other files than kasoku.
func (s *subject) elsewhere() bool { return s.held != nil && !s.held.Here }

// claims are the names that the program of a believed service of a kind must have; of other
// kinds any.
var claims = map[Kind][]string{Nginx: NginxPrograms, MySQL: DatabasePrograms}

// believe compares a service with what the kernel says of its process, and reports whether the
// service is kept. One that is not believed is kept only as an application, with what the
// kernel says of it and nothing that it says itself.
func (l *looker) believe(s *subject, kind Kind) bool {
	if !l.view.tree.real() {
		return true
	}
	if kind == Other {
		s.Dir, s.fds = "", nil // nothing is read of it
		return true
	}
	p, err := foreign.Hold(s.PID)
	if err != nil {
		return false // it has gone
	}
	err = p.Believe(claims[kind])
	if err == nil {
		s.held = p
		l.held = append(l.held, p)
		return true
	}
	_ = p.Close() // it was only looked at
	s.Dir, s.Exe, s.fds, s.args = "", "", nil, nil
	if l.doubts++; l.doubts > foreign.MostDoubts {
		return kind == App
	}
	hint := ""
	var doubt *foreign.Doubt
	if errors.As(err, &doubt) {
		hint = doubt.Hint()
	}
	l.view.note("pid "+strconv.Itoa(s.PID), err.Error(), hint)
	return kind == App
}

// noteDoubts counts the doubts that were not named.
func (l *looker) noteDoubts() {
	if more := l.doubts - foreign.MostDoubts; more > 0 {
		l.view.note("and "+strconv.Itoa(more)+" more processes", "they are not what they call themselves: not read", "")
	}
}

// release lets go of the processes.
func (l *looker) release() {
	for _, p := range l.held {
		_ = p.Close() // it was only read
	}
}
