package nginxconf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxFiles, maxFile and maxIncludes bound what is read of one configuration.
const (
	maxFiles    = 1000
	maxFile     = 16 << 20
	maxIncludes = 2000 // directives that are followed
)

// Files is how [ReadFrom] looks at a file system.
type Files struct {
	// Read reads a file that another one, by, includes; by is empty for the first one.
	Read func(by, path string) ([]byte, error)
	// Glob returns the files that a pattern in the file by means, sorted; a name without
	// a pattern is one of its own, there or not.
	Glob func(by, pattern string) []string
	// Unread is called for each included file that cannot be read. Nil: the error
	// that is returned names them.
	Unread func(path string, err error)
}

// Read reads a configuration with the files that it includes; a directory means
// the nginx.conf in it. Relative names are below the directory of the first file,
// as nginx takes them. A dump of nginx -T has all files in it and nothing is
// included. What can be read is returned also with an error, which is that of the
// first file, and joins what is wrong with the others.
func Read(path string) (Config, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "nginx.conf")
	}
	return ReadFrom(Files{Read: readFile, Glob: glob}, path)
}

// ReadFrom reads a configuration as [Read] does.
func ReadFrom(fs Files, path string) (Config, error) {
	r := reader{fs: fs, dir: filepath.Dir(path), open: map[string]bool{}}
	err := r.file("", path, -1, 0)
	return r.out, errors.Join(append([]error{err}, r.errs...)...)
}

func readFile(_, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, fmt.Errorf("open %s: not a file", path)
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

func glob(_, pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}
	}
	found, _ := filepath.Glob(pattern) // a bad pattern finds nothing
	return found
}

// A reader reads a configuration of several files.
type reader struct {
	fs    Files
	dir   string // of the first file
	open  map[string]bool
	files int
	out   Config
	errs  []error

	includes int // that were followed
	count    tally
	cut      bool // there is more than is read
}

// file appends the directives of a file that another one includes in a block.
func (r *reader) file(by, path string, parent, depth int) error {
	if r.cut {
		return nil // said where it was
	}
	if r.open[path] || r.files >= maxFiles {
		return fmt.Errorf("nginx configuration %s: included by itself, or one of more than %d files", path, maxFiles)
	}
	r.open[path] = true
	defer delete(r.open, path)
	r.files++
	text, err := r.fs.Read(by, path)
	if err != nil {
		return fmt.Errorf("nginx configuration: %w", err)
	}
	directives, err := Parse(string(text), path)
	dump := IsDump(string(text))
	moved := make([]int, len(directives)) // where each directive goes
	for i, d := range directives {
		if r.cut {
			return err
		}
		if !r.count.add(&d) {
			r.cut = true
			return errCut(d.File, d.Line)
		}
		if d.Parent >= 0 {
			d.Parent = moved[d.Parent]
		} else {
			d.Parent = parent
		}
		d.Depth += depth
		moved[i] = len(r.out)
		r.out = append(r.out, d)
		if !dump && d.Name() == "include" && len(d.Words) == 2 {
			r.include(path, d)
		}
	}
	var syntax *SyntaxError
	r.cut = r.cut || errors.As(err, &syntax) && syntax.Cut
	return err
}

// include reads the files that a directive of the file by names.
func (r *reader) include(by string, d Directive) {
	r.includes++
	switch {
	case r.cut:
		return
	case r.includes > maxIncludes:
		return
	case r.includes == maxIncludes:
		r.unread(by, d, fmt.Errorf("nginx configuration %s: the includes after the first %d are left out", by, maxIncludes))
		return
	}
	for _, name := range r.fs.Glob(by, below(r.dir, d.Words[1])) {
		if r.files >= maxFiles {
			r.includes = max(r.includes, maxIncludes-1) // the next one says so
			return
		}
		if err := r.file(by, name, d.Parent, d.Depth); err != nil {
			r.unread(name, d, err)
		}
	}
}

// unread keeps why a file that a directive includes is not there.
func (r *reader) unread(name string, d Directive, err error) {
	if r.fs.Unread != nil {
		r.fs.Unread(name, err)
		return
	}
	r.errs = append(r.errs, fmt.Errorf("%s:%d: include: %w", d.File, d.Line, err))
}

// below makes a path absolute, or at least one of the directory.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
