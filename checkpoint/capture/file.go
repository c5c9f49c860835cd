package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/unit"
)

// warn adds a warning of something that could not be taken.
func (t *taker) warn(hint, format string, args ...any) {
	t.out.Warnings = append(t.out.Warnings, kasoku.Warning{Code: "not-captured",
		Text: "configuration: " + fmt.Sprintf(format, args...), Hint: hint})
}

// ReadFile reads a file as it is kept with a run, but with its secrets: its text,
// permission bits and owner. A file that is no text or larger than [MostBytes] has
// no text, and a note that says why. The error is that of the file system.
func ReadFile(path string) (kasoku.Config, error) {
	c := kasoku.Config{Name: path}
	// A FIFO without a writer must not hang the run.
	f, err := pathwalk.OpenNamed(path)
	if err != nil {
		return c, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, err
	}
	c.Mode = uint32(info.Mode().Perm())
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		c.UID, c.GID = int(st.Uid), int(st.Gid)
	}
	if !info.Mode().IsRegular() {
		c.Note = "no plain file"
		return c, nil
	}
	// Files of /proc have no size, so it is the reading that is bounded.
	b, err := io.ReadAll(io.LimitReader(f, MostBytes+1))
	if err != nil {
		return c, err
	}
	setText(&c, b, len(b) > MostBytes)
	return c, nil
}

// setText gives a file its text, or the note that says why it has none.
func setText(c *kasoku.Config, b []byte, large bool) {
	switch {
	case large:
		c.Note = "larger than " + unit.BytesIEC(MostBytes)
	case !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0:
		c.Note = "not UTF-8 text"
	default:
		c.Text = string(b)
	}
}

// keep keeps what a process of this host read, each name once.
func (t *taker) keep(kind, name string, f foreign.File) {
	if t.have[name] || t.leftOut(name) {
		return
	}
	t.have[name] = true
	c := kasoku.Config{Kind: kind, Name: name, Mode: f.Mode, UID: f.UID, GID: f.GID}
	if f.Regular {
		setText(&c, f.Data, f.Large || len(f.Data) > MostBytes)
	} else {
		c.Note = "no plain file"
	}
	t.add(c)
}

// file keeps one file under its path. It reports whether the file is there.
func (t *taker) file(kind, path string) bool {
	if t.have[path] {
		return true
	}
	c, err := ReadFile(t.root(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		t.warn(hintOf(err), "%s: %v", kind, err)
		return true
	}
	c.Kind, c.Name = kind, path
	t.have[path] = true
	t.add(c)
	return true
}

// mostMatches is how many files the globs of one kind may name.
const mostMatches = 1000

// globs keeps the files that globs match; directories among them are left out.
func (t *taker) globs(kind string, globs []string) {
	n := 0
	for _, glob := range globs {
		paths, err := filepath.Glob(t.root(glob))
		if err != nil || len(paths) == 0 {
			t.warn("in kasoku.toml, capture names globs such as /etc/nginx/conf.d/*.conf", "no file matches %q", glob)
			continue
		}
		for _, p := range paths {
			if info, err := os.Stat(p); err == nil && info.IsDir() {
				continue
			}
			if n++; n > mostMatches {
				t.warn("name fewer files", "%q: more than %d files", glob, mostMatches)
				return
			}
			rel := strings.TrimPrefix(p, strings.TrimSuffix(t.o.Root, "/"))
			if !t.file(kind, rel) {
				t.warn("is it a link to nothing?", "%s: no file %s", kind, rel)
			}
		}
	}
}

// unitDirs is where systemd looks for units of the system, the first first.
//
// Source: systemd.unit(5), "Unit File Load Path".
var unitDirs = []string{
	"/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient",
	"/run/systemd/generator.early",
	"/etc/systemd/system", "/run/systemd/system", "/run/systemd/generator",
	"/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system", "/run/systemd/generator.late",
}

// units keeps the files that units are made of: the first that bears a unit's name,
// and all drop-ins. systemctl cat shows the same files; here none of it is run.
func (t *taker) units() {
	for _, name := range append(slices.Clone(t.o.Units), t.o.MemberUnits...) {
		if filepath.Ext(name) == "" {
			name += ".service"
		}
		names := []string{name}
		if before, after, ok := strings.Cut(name, "@"); ok {
			names = append(names, before+"@"+filepath.Ext(after)) // the template of an instance
		}
		found := false
		for _, n := range names {
			for _, dir := range unitDirs {
				if !found && t.file(KindUnit, filepath.Join(dir, n)) {
					found = true
				}
			}
		}
		for _, n := range names {
			for _, dir := range unitDirs {
				t.dropIns(filepath.Join(dir, n+".d"))
			}
		}
		if !found && slices.Contains(t.o.Units, strings.TrimSuffix(name, ".service")) ||
			!found && slices.Contains(t.o.Units, name) {
			t.warn("systemctl list-units has the names", "no unit %q", name)
		}
	}
}

func (t *taker) dropIns(dir string) {
	paths, err := filepath.Glob(filepath.Join(t.root(dir), "*.conf"))
	if err != nil {
		return // a name with brackets is no unit's
	}
	for _, p := range paths {
		t.file(KindUnit, filepath.Join(dir, filepath.Base(p)))
	}
}
