package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/mysqlflags"
)

// maxInclude is how deep option files may include each other; MySQL's own limit.
const maxInclude = 10

// optionFiles keeps the option files of database servers, with what they include: those
// that the user named, else those of members.
func (t *taker) optionFiles(ctx context.Context, running []*process) {
	for _, f := range t.o.OptionFiles {
		t.namedOptions(f)
	}
	if len(t.o.OptionFiles) > 0 {
		return
	}
	for _, p := range running {
		if !p.server || p.name == "nginx" {
			continue
		}
		for _, f := range p.optionFiles() {
			switch {
			case !t.real():
				t.namedOptions(f)
			case p.held != nil:
				r := optionReader{ctx: ctx, t: t, p: p}
				r.read(f, "", 0)
			}
		}
	}
}

// namedOptions keeps an option file by the user's own word.
func (t *taker) namedOptions(file string) {
	d, err := mysqlflags.ReadDefaults(t.root(file))
	if err != nil && (len(t.o.OptionFiles) > 0 || !errors.Is(err, fs.ErrNotExist)) {
		t.warn(hintOf(err), "mysql: %v", err)
	}
	for _, note := range d.Notes {
		hint := ""
		if strings.Contains(note, "everybody may write") {
			hint = "chmod o-w it"
		}
		t.warn(hint, "mysql: %s", note)
	}
	for _, path := range d.Files {
		t.file(KindMySQL, "/"+strings.TrimPrefix(strings.TrimPrefix(path, t.o.Root), "/"))
	}
}

// An optionReader reads the option files of one server, with its rights.
type optionReader struct {
	ctx context.Context
	t   *taker
	p   *process
}

// read keeps a file and what it includes; from is the file and line that names it,
// empty for one of the command line.
func (r *optionReader) read(path, from string, depth int) {
	if depth > maxInclude || r.t.have[r.p.nameOf(path)] {
		return
	}
	f, err := r.p.held.ReadFile(r.ctx, path, MostBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist) && from == "":
		return // one of the places where servers look
	case err != nil:
		r.t.warn(hintOf(err), "mysql: %s", strings.TrimPrefix(fmt.Sprintf("%s: option file: %v", from, err), ": "))
		return
	case f.Regular && f.Mode&0o002 != 0: // MySQL and MariaDB do the same
		r.t.warn("chmod o-w it", "mysql: option file %s: ignored, everybody may write to it; chmod o-w", path)
		return
	}
	r.t.keep(KindMySQL, r.p.nameOf(path), f)
	r.include(path, f, depth)
}

func (r *optionReader) include(path string, f foreign.File, depth int) {
	for _, o := range mysqlflags.ParseOptions(f.Data) {
		from := fmt.Sprintf("%s:%d", path, o.Line)
		switch o.Directive {
		case "include":
			r.read(o.Value, from, depth+1)
		case "includedir":
			files, err := r.p.held.Glob(r.ctx, filepath.Join(o.Value, "*.cnf"))
			if err != nil {
				r.t.warn(hintOf(err), "mysql: %s: include directory: %v", from, err)
			}
			for _, file := range files {
				r.read(file, from, depth+1)
			}
		}
	}
}
